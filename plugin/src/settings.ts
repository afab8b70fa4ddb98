import { type App, Notice, PluginSettingTab, Setting } from "obsidian";
import type AfterwordPlugin from "./main";

export class AfterwordSettings extends PluginSettingTab {
  private code = "";

  constructor(
    app: App,
    private readonly plugin: AfterwordPlugin,
  ) {
    super(app, plugin);
  }

  override display(): void {
    const root = this.containerEl;
    root.empty();
    new Setting(root).setName("State").setDesc(this.plugin.stateWords());
    new Setting(root)
      .setName("Port")
      .setDesc("Where the daemon listens on this machine; “afterword pair” prints it.")
      .addText((text) => {
        text.inputEl.type = "number";
        text.inputEl.setAttribute("aria-label", "Port");
        text.setValue(this.plugin.port ? String(this.plugin.port) : "").onChange((value) => {
          const port = Number(value);
          if (Number.isInteger(port) && port > 0 && port < 65536) this.plugin.port = port;
        });
      });
    new Setting(root)
      .setName("Pairing code")
      .setDesc("Run “afterword pair” in a terminal, and put the code in here within two minutes.")
      .addText((text) => {
        text.inputEl.setAttribute("aria-label", "Pairing code");
        text.setPlaceholder("XXXX-XXXX").onChange((value) => {
          this.code = value.trim();
        });
      })
      .addButton((button) =>
        button
          .setButtonText("Pair")
          .setCta()
          .onClick(async () => {
            button.setDisabled(true);
            await this.plugin.pair(this.plugin.port, this.code);
            this.display();
          }),
      );
    if (this.plugin.paired) {
      new Setting(root)
        .setName("Forget the pairing")
        .setDesc("The daemon keeps it until “afterword pair revoke”.")
        .addButton((button) =>
          button.setButtonText("Forget").onClick(() => {
            this.plugin.forget();
            new Notice("This vault is not paired any more.");
            this.display();
          }),
        );
    }
  }
}
