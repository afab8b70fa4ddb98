// Afterword inside Obsidian: asks the daemon of this machine, and writes front matter where a person says so.
import { Notice, type PaneType, Plugin, TFile, moment, normalizePath } from "obsidian";
import { Api, ApiError, type Pulse } from "./api";
import { PairModal, WrongModal } from "./modals";
import { PANEL, Panel, type Tab } from "./panel";
import { AfterwordSettings } from "./settings";

const SECRET = "afterword-token";
const PORT = "afterword-port";
const BEAT_MS = 15_000;
const BEAT_MOST_MS = 120_000;

export default class AfterwordPlugin extends Plugin {
  api!: Api;
  private bar!: HTMLElement;
  private vaultId = "";
  private pulse: Pulse | null = null;
  private trouble: ApiError | null = null;
  private timer = 0;
  private waitMs = BEAT_MS;
  private beating = 0;

  override async onload(): Promise<void> {
    this.api = new Api(
      () => (this.port && this.token ? { port: this.port, token: this.token } : null),
      () => this.vaultId,
    );
    this.registerView(PANEL, (leaf) => new Panel(leaf, this));
    this.registerHoverLinkSource(PANEL, { display: "Afterword", defaultMod: true });
    this.addSettingTab(new AfterwordSettings(this.app, this));
    this.addRibbonIcon("book-open-check", "Search with Afterword", () => void this.reveal("search"));
    this.bar = this.addStatusBarItem();
    this.bar.addClass("mod-clickable");
    this.bar.setAttribute("role", "button");
    this.bar.tabIndex = 0;
    this.registerDomEvent(this.bar, "click", () => void this.showState());
    this.registerDomEvent(this.bar, "keydown", (event) => {
      if (event.key === "Enter") void this.showState();
    });
    this.addCommands();
    this.registerObsidianProtocolHandler("afterword", (said) => {
      const port = Number(said.port);
      const code = said.code ?? "";
      if (!Number.isInteger(port) || port < 1 || port > 65535 || code === "") return;
      new PairModal(this.app, port, () => void this.pair(port, code)).open();
    });
    this.app.workspace.onLayoutReady(() => void this.begin());
  }

  override onunload(): void {
    window.clearTimeout(this.timer);
    this.beating += 1;
  }

  private addCommands(): void {
    const show = (id: Tab, name: string): void => {
      this.addCommand({ id, name, callback: () => void this.reveal(id) });
    };
    show("search", "Search");
    show("related", "Open related notes");
    show("review", "Open the review queue");
    this.addCommand({ id: "sync-now", name: "Sync now", callback: () => void this.syncNow() });
    this.addCommand({ id: "status", name: "Show daemon status", callback: () => void this.showState() });
    const onArticle = (id: string, name: string, wrong: boolean, act: (file: TFile) => unknown): void => {
      this.addCommand({
        id,
        name,
        checkCallback: (checking) => {
          const file = this.article();
          if (file === null || this.isWrong(file) !== wrong) return false;
          if (!checking) void act(file);
          return true;
        },
      });
    };
    onArticle("mark-wrong", "Mark this article as wrong", false, (file) => this.askWrong(file));
    onArticle("restore", "Restore this article", true, (file) => this.restore(file));
    onArticle("useful", "This article was useful", false, (file) => this.useful(file));
  }

  private async begin(): Promise<void> {
    try {
      const card = JSON.parse(await this.app.vault.adapter.read(".afterword/vault.json")) as { id?: string };
      this.vaultId = card.id ?? "";
    } catch {
      this.vaultId = "";
    }
    this.registerDomEvent(activeDocument, "visibilitychange", () => {
      if (activeDocument.visibilityState === "visible") void this.beat();
    });
    await this.beat();
  }

  // Where the daemon is, and what opens it

  get port(): number {
    return Number(this.app.loadLocalStorage(PORT) ?? 0);
  }

  set port(port: number) {
    this.app.saveLocalStorage(PORT, String(port));
  }

  private get token(): string {
    return this.app.secretStorage.getSecret(SECRET) ?? "";
  }

  get paired(): boolean {
    return this.token !== "";
  }

  async pair(port: number, code: string): Promise<void> {
    try {
      const said = await Api.pair(port, code);
      if (this.vaultId && said.vault.id && said.vault.id !== this.vaultId) {
        new Notice(`That daemon keeps another vault: ${said.vault.name ?? "unnamed"}.`);
        return;
      }
      this.port = port;
      this.app.secretStorage.setSecret(SECRET, said.token);
      new Notice("Paired with Afterword.");
    } catch (err) {
      this.complain(err);
    }
    await this.beat();
  }

  forget(): void {
    // Secrets cannot be deleted, only emptied.
    this.app.secretStorage.setSecret(SECRET, "");
    void this.beat();
  }

  // The status bar

  /** Asks how it goes, now and then again: soon while it answers, more and more seldom while it does not. */
  async beat(): Promise<void> {
    const mine = ++this.beating;
    window.clearTimeout(this.timer);
    try {
      const pulse = await this.api.get<Pulse>("/v1/pulse");
      if (mine !== this.beating) return;
      this.pulse = pulse;
      this.trouble = null;
      this.waitMs = BEAT_MS;
    } catch (err) {
      if (mine !== this.beating) return;
      if (!(err instanceof ApiError)) throw err;
      this.trouble = err;
      this.waitMs = Math.min(BEAT_MOST_MS, this.waitMs * 2);
    }
    this.bar.setText(`Afterword: ${this.short()}`);
    this.bar.setAttribute("aria-label", this.stateWords());
    this.timer = window.setTimeout(() => {
      if (activeDocument.visibilityState === "visible") void this.beat();
    }, this.waitMs);
  }

  private short(): string {
    switch (this.trouble?.trouble) {
      case "off":
        return "off";
      case "unpaired":
        return "not paired";
      case "wrong-vault":
        return "wrong vault";
      case "stranger":
      case "refused":
        return "error";
      case "slow":
        return "no answer";
      case undefined:
        break;
    }
    const pulse = this.pulse;
    if (pulse === null) return "…";
    if (pulse.state === "error") return "error";
    if (pulse.state === "working") return `working ${pulse.jobs.waiting}`;
    return pulse.review > 0 ? `review ${pulse.review}` : "idle";
  }

  stateWords(): string {
    if (this.trouble !== null) return `${this.trouble.message} ${this.trouble.hint}`.trim();
    const pulse = this.pulse;
    if (pulse === null) return "Not asked yet.";
    if (pulse.problem) return pulse.problem;
    const parts = [pulse.jobs.waiting ? `${pulse.jobs.waiting} jobs wait` : "Nothing to do"];
    if (pulse.review) parts.push(`${pulse.review} to decide`);
    if (pulse.last_capture) parts.push(`last read ${pulse.last_capture.slice(0, 16).replace("T", " ")}`);
    parts.push(`search by meaning: ${pulse.index}`);
    return `${parts.join(", ")}.`;
  }

  private async showState(): Promise<void> {
    await this.beat();
    new Notice(this.stateWords());
  }

  // What a person does

  async reveal(tab: Tab): Promise<void> {
    const leaf = await this.app.workspace.ensureSideLeaf(PANEL, "right", { active: true });
    if (!(leaf.view instanceof Panel)) return;
    leaf.view.show(tab);
    if (tab === "search") leaf.view.focusSearch();
  }

  /** Opens a note of this vault at a block; what is not in it is not made. */
  async open(path: string, block: string | null, newLeaf: PaneType | boolean): Promise<void> {
    const file = this.app.vault.getAbstractFileByPath(normalizePath(path));
    if (!(file instanceof TFile)) {
      new Notice("That note is not in this vault.");
      return;
    }
    const safe = block !== null && /^[A-Za-z0-9-]+$/.test(block) ? `#^${block}` : "";
    await this.app.workspace.openLinkText(file.path + safe, "", newLeaf);
  }

  askWrong(file: TFile): void {
    new WrongModal(this.app, file.basename, (reason) => void this.markWrong(file, reason)).open();
  }

  /** The front matter first: the daemon reads it there, now or when it runs again. */
  private async markWrong(file: TFile, reason: string): Promise<void> {
    await this.app.fileManager.processFrontMatter(file, (matter: Record<string, unknown>) => {
      matter.status = "retracted";
      matter.retract_reason = reason;
      matter.retracted_on = moment().format("YYYY-MM-DD");
    });
    new Notice("Marked as wrong.");
    await this.beat();
  }

  async restore(file: TFile): Promise<void> {
    await this.app.fileManager.processFrontMatter(file, (matter: Record<string, unknown>) => {
      matter.status = "active";
      delete matter.retract_reason;
      delete matter.retracted_on;
      delete matter.replaced_by;
    });
    new Notice("It holds again.");
    await this.beat();
  }

  async useful(file: TFile): Promise<void> {
    try {
      await this.api.post("/v1/useful", { id: file.path });
      new Notice("Counted as useful.");
    } catch (err) {
      this.complain(err);
    }
  }

  async syncNow(): Promise<void> {
    try {
      const said = await this.api.post<{ peers: string[] }>("/v1/sync/now", {});
      new Notice(said.peers.length ? `Reading, and exchanging with ${said.peers.join(", ")}.` : "Reading what is new.");
    } catch (err) {
      this.complain(err);
    }
    await this.beat();
  }

  private complain(err: unknown): void {
    if (!(err instanceof ApiError)) throw err;
    new Notice([err.message, err.hint].filter(Boolean).join(" "));
  }

  /** The open article of ours; none for any other note. */
  private article(): TFile | null {
    const file = this.app.workspace.getActiveFile();
    const matter = file ? this.app.metadataCache.getFileCache(file)?.frontmatter : undefined;
    return typeof matter?.uid === "string" && matter.uid.startsWith("a-") ? file : null;
  }

  private isWrong(file: TFile): boolean {
    return this.app.metadataCache.getFileCache(file)?.frontmatter?.status === "retracted";
  }
}
