import { type App, Notice, PluginSettingTab, Setting, type SettingDefinitionItem, requireApiVersion } from "obsidian";
import type AfterwordPlugin from "./main";

export class AfterwordSettings extends PluginSettingTab {
  private code = "";

  constructor(
    app: App,
    private readonly plugin: AfterwordPlugin,
  ) {
    super(app, plugin);
  }

  /** Obsidian 1.13 and newer asks for rows, and finds them by its search. */
  override getSettingDefinitions(): SettingDefinitionItem[] {
    return this.rows().map(({ name, desc, fill }) => ({ name, desc, render: fill }));
  }

  /** Older versions have the page drawn. */
  override display(): void {
    this.draw();
  }

  private draw(): void {
    if (requireApiVersion("1.13.0")) {
      this.update();
      return;
    }
    this.containerEl.empty();
    for (const { name, desc, fill } of this.rows()) fill(new Setting(this.containerEl).setName(name).setDesc(desc));
  }

  private rows(): { name: string; desc: string; fill: (row: Setting) => void }[] {
    const found = [
      { name: "State", desc: this.plugin.stateWords(), fill: (): void => undefined },
      {
        name: "Port",
        desc: "Where the daemon listens on this machine; “afterword pair” prints it.",
        fill: (row: Setting): void => this.port(row),
      },
      {
        name: "Pairing code",
        desc: "Run “afterword pair” in a terminal, and put the code in here within two minutes.",
        fill: (row: Setting): void => this.pairing(row),
      },
    ];
    if (this.plugin.paired) {
      found.push({
        name: "Forget the pairing",
        desc: "The daemon keeps it until “afterword pair revoke”.",
        fill: (row: Setting): void => this.forgetting(row),
      });
    }
    return found;
  }

  private port(row: Setting): void {
    row.addText((text) => {
      text.inputEl.type = "number";
      text.inputEl.setAttribute("aria-label", "Port");
      text.setValue(this.plugin.port ? String(this.plugin.port) : "").onChange((value) => {
        const port = Number(value);
        if (Number.isInteger(port) && port > 0 && port < 65536) this.plugin.port = port;
      });
    });
  }

  private pairing(row: Setting): void {
    row.addText((text) => {
      text.inputEl.setAttribute("aria-label", "Pairing code");
      text.onChange((value) => {
        this.code = value.trim();
      });
    });
    row.addButton((button) =>
      button
        .setButtonText("Pair")
        .setCta()
        .onClick(async () => {
          button.setDisabled(true);
          await this.plugin.pair(this.plugin.port, this.code);
          this.draw();
        }),
    );
  }

  private forgetting(row: Setting): void {
    row.addButton((button) =>
      button.setButtonText("Forget").onClick(() => {
        this.plugin.forget();
        new Notice("This vault is not paired any more.");
        this.draw();
      }),
    );
  }
}
