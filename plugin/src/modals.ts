import { type App, Modal, Setting } from "obsidian";

/** Asks why an article is wrong. */
export class WrongModal extends Modal {
  private reason = "";

  constructor(
    app: App,
    private readonly title: string,
    private readonly done: (reason: string) => void,
  ) {
    super(app);
  }

  override onOpen(): void {
    this.titleEl.setText("Mark as wrong");
    this.contentEl.createEl("p", { text: this.title });
    new Setting(this.contentEl).setName("Why does it not hold?").addTextArea((area) => {
      area.inputEl.setAttribute("aria-label", "Reason");
      area.onChange((value) => {
        this.reason = value;
      });
      window.setTimeout(() => area.inputEl.focus(), 0);
    });
    const said = this.contentEl.createDiv({ cls: "afterword-warning", attr: { role: "alert" } });
    new Setting(this.contentEl)
      .addButton((button) => button.setButtonText("Cancel").onClick(() => this.close()))
      .addButton((button) =>
        button
          .setButtonText("Mark as wrong")
          .setCta()
          .onClick(() => {
            const reason = this.reason.replace(/\s+/g, " ").trim();
            if (reason === "") {
              said.setText("Say why: the note will show it.");
              return;
            }
            this.close();
            this.done(reason);
          }),
      );
  }

  override onClose(): void {
    this.contentEl.empty();
  }
}

/** Asks whether to pair: an address that a web page opened must not do so by itself. */
export class PairModal extends Modal {
  constructor(
    app: App,
    private readonly port: number,
    private readonly done: () => void,
  ) {
    super(app);
  }

  override onOpen(): void {
    this.titleEl.setText("Pair with Afterword?");
    this.contentEl.createEl("p", {
      text: `Something asks to pair this vault with the program at port ${this.port} of this machine. Go on only if you have just run “afterword pair”.`,
    });
    new Setting(this.contentEl)
      .addButton((button) => button.setButtonText("Cancel").onClick(() => this.close()))
      .addButton((button) =>
        button
          .setButtonText("Pair")
          .setCta()
          .onClick(() => {
            this.close();
            this.done();
          }),
      );
  }

  override onClose(): void {
    this.contentEl.empty();
  }
}
