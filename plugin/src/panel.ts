// The pane: search, what belongs to the open note, and what waits for a decision.
import { ItemView, Keymap, TFile, type WorkspaceLeaf } from "obsidian";
import { ApiError, type Candidate, type Found, type Related, type SearchRow } from "./api";
import type AfterwordPlugin from "./main";
import { linkTo, markInto, titleOf, wordsOf } from "./words";

export const PANEL = "afterword-panel";
const DEBOUNCE_MS = 250;
const TABS = { search: "Search", related: "Related", review: "Review" } as const;
export type Tab = keyof typeof TABS;

export class Panel extends ItemView {
  private tab: Tab = "search";
  private asked = 0;
  private timer = 0;
  private active = -1;
  private rows: { el: HTMLElement; open: (event: MouseEvent | KeyboardEvent) => void }[] = [];
  private body!: HTMLElement;
  private list!: HTMLElement;
  private said!: HTMLElement;
  private readonly buttons = new Map<Tab, HTMLElement>();
  private query = "";
  private mode = "both";
  private kind = "";
  private project = "";
  private since = "";

  constructor(
    leaf: WorkspaceLeaf,
    private readonly plugin: AfterwordPlugin,
  ) {
    super(leaf);
  }

  override getViewType(): string {
    return PANEL;
  }

  override getDisplayText(): string {
    return "Afterword";
  }

  override getIcon(): string {
    return "book-open-check";
  }

  protected override async onOpen(): Promise<void> {
    const root = this.contentEl;
    root.empty();
    root.addClass("afterword-panel");
    const tabs = root.createDiv({ cls: "afterword-tabs", attr: { role: "tablist", "aria-label": "Afterword" } });
    for (const [tab, label] of Object.entries(TABS) as [Tab, string][]) {
      const button = tabs.createEl("button", { text: label, attr: { role: "tab", type: "button" } });
      this.registerDomEvent(button, "click", () => this.show(tab));
      this.buttons.set(tab, button);
    }
    this.registerDomEvent(tabs, "keydown", (event) => this.moveTab(event));
    this.body = root.createDiv({ cls: "afterword-body", attr: { role: "tabpanel" } });
    this.registerEvent(
      this.app.workspace.on("file-open", () => {
        if (this.tab === "related") this.show("related");
      }),
    );
    this.show(this.tab);
  }

  protected override async onClose(): Promise<void> {
    window.clearTimeout(this.timer);
    this.asked += 1;
  }

  show(tab: Tab): void {
    this.tab = tab;
    window.clearTimeout(this.timer);
    for (const [each, button] of this.buttons) {
      button.setAttribute("aria-selected", String(each === tab));
      button.tabIndex = each === tab ? 0 : -1;
    }
    this.body.empty();
    this.body.setAttribute("aria-label", TABS[tab]);
    if (tab === "search") this.drawSearch();
    this.said = this.body.createDiv({ cls: "afterword-said", attr: { role: "status", "aria-live": "polite" } });
    this.list = this.body.createDiv({ cls: "afterword-list", attr: { id: "afterword-list" } });
    this.clear();
    if (tab === "search") void this.search();
    else if (tab === "related") void this.related();
    else void this.review();
  }

  focusSearch(): void {
    this.body.querySelector<HTMLInputElement>("input[type=search]")?.focus();
  }

  private moveTab(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const order = [...this.buttons.keys()];
    const next = order[(order.indexOf(this.tab) + step + order.length) % order.length];
    if (next === undefined) return;
    this.show(next);
    this.buttons.get(next)?.focus();
  }

  private clear(): void {
    this.list.empty();
    this.rows = [];
    this.active = -1;
  }

  /** Asks, and shows the answer unless something else was asked meanwhile. */
  private async fill<T>(ask: () => Promise<T>, draw: (answer: T) => void): Promise<void> {
    const mine = ++this.asked;
    const waiting = window.setTimeout(() => {
      if (mine === this.asked) this.said.setText("Waiting for the daemon …");
    }, 600);
    try {
      const answer = await ask();
      if (mine !== this.asked) return;
      this.clear();
      this.said.setText("");
      draw(answer);
    } catch (err) {
      if (mine !== this.asked) return;
      this.clear();
      this.trouble(err);
    } finally {
      window.clearTimeout(waiting);
    }
  }

  private trouble(err: unknown): void {
    if (!(err instanceof ApiError)) throw err;
    this.said.setText([err.message, err.hint].filter(Boolean).join(" "));
    void this.plugin.beat();
  }

  // Search

  private drawSearch(): void {
    const form = this.body.createDiv({ cls: "afterword-form", attr: { role: "search" } });
    const input = form.createEl("input", {
      type: "search",
      value: this.query,
      placeholder: "What was said or done",
      attr: {
        "aria-label": "Search",
        role: "combobox",
        "aria-expanded": "true",
        "aria-controls": "afterword-list",
        "aria-autocomplete": "list",
      },
    });
    this.registerDomEvent(input, "input", () => {
      this.query = input.value;
      this.later();
    });
    this.registerDomEvent(input, "keydown", (event) => this.key(event, input));
    const filters = form.createDiv({ cls: "afterword-filters" });
    this.choice(filters, "How", this.mode, { both: "Both ways", exact: "Exact", semantic: "By meaning" }, (value) => {
      this.mode = value;
    });
    this.choice(
      filters,
      "What",
      this.kind,
      { "": "Everything", article: "Articles", lesson: "Lessons", diary: "Daily notes", message: "Messages" },
      (value) => {
        this.kind = value;
      },
    );
    this.choice(filters, "Since", this.since, { "": "Any time", "7d": "7 days", "30d": "30 days", "365d": "A year" }, (value) => {
      this.since = value;
    });
    const project = filters.createEl("input", {
      type: "text",
      value: this.project,
      placeholder: "Project",
      attr: { "aria-label": "Project" },
    });
    this.registerDomEvent(project, "input", () => {
      this.project = project.value.trim();
      this.later();
    });
  }

  private choice(
    into: HTMLElement,
    label: string,
    value: string,
    options: Record<string, string>,
    set: (value: string) => void,
  ): void {
    const select = into.createEl("select", { cls: "dropdown", attr: { "aria-label": label } });
    for (const [name, text] of Object.entries(options)) select.createEl("option", { text, value: name });
    select.value = value;
    this.registerDomEvent(select, "change", () => {
      set(select.value);
      void this.search();
    });
  }

  private later(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.search(), DEBOUNCE_MS);
  }

  private async search(): Promise<void> {
    const query = this.query.trim();
    if (query === "") {
      this.asked += 1;
      this.clear();
      this.said.setText("");
      return;
    }
    const asked: Record<string, unknown> = { query, mode: this.mode, limit: 30 };
    if (this.kind) asked.kind = this.kind;
    if (this.project) asked.project = this.project;
    if (this.since) asked.since = this.since;
    await this.fill(
      () => this.plugin.api.post<Found>("/v1/search", asked),
      (found) => {
        const words = wordsOf(query);
        this.list.setAttribute("role", "listbox");
        this.list.setAttribute("aria-label", `Results for ${query}`);
        for (const row of found.results) this.drawResult(row, words);
        const count = found.results.length;
        const more = found.total > count ? ` of ${found.total}` : "";
        const built = found.semantic === "building" ? " The index by meaning is being made." : "";
        this.said.setText((count === 0 ? "Nothing holds this." : `${count}${more} results.`) + built);
      },
    );
  }

  private drawResult(row: SearchRow, words: string[]): void {
    const at = this.rows.length;
    const el = this.list.createDiv({
      cls: "afterword-result",
      attr: { role: "option", id: `afterword-result-${at}`, "aria-selected": "false", draggable: "true" },
    });
    const head = el.createDiv({ cls: "afterword-title" });
    markInto(head, titleOf(row), words);
    markInto(el.createDiv({ cls: "afterword-snippet" }), row.snippet, words);
    const facts = [row.kind, row.project, row.harness, row.time?.slice(0, 10), ...row.why].filter(Boolean);
    el.createDiv({ cls: "afterword-facts", text: facts.join(" · ") });
    if (row.retracted) {
      el.createDiv({ cls: "afterword-warning", text: `Retracted: ${row.retracted.says} ${row.retracted.why}` });
    } else if (row.stale) {
      el.createDiv({ cls: "afterword-warning", text: "May be out of date" });
    }
    const open = (event: MouseEvent | KeyboardEvent): void => {
      void this.openResult(row, event);
    };
    this.hold(el, open, row.path, row.block, titleOf(row));
  }

  private async openResult(row: SearchRow, event: MouseEvent | KeyboardEvent): Promise<void> {
    const newLeaf = Keymap.isModEvent(event);
    try {
      const place =
        row.path === null ? await this.plugin.api.post<{ path: string; block: string | null }>("/v1/open", { result: row.id }) : row;
      await this.plugin.open(place.path ?? "", place.block, newLeaf);
    } catch (err) {
      this.trouble(err);
    }
  }

  /** Click, keys, hover and drag of a row that leads to a note. */
  private hold(
    el: HTMLElement,
    open: (event: MouseEvent | KeyboardEvent) => void,
    path: string | null,
    block: string | null,
    title: string,
  ): void {
    this.rows.push({ el, open });
    el.addEventListener("click", open);
    if (path === null) return;
    el.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", linkTo(path, block, title)));
    el.addEventListener("mouseover", (event) => {
      this.app.workspace.trigger("hover-link", {
        event,
        source: PANEL,
        hoverParent: this,
        targetEl: el,
        linktext: path + (block ? `#^${block}` : ""),
      });
    });
  }

  private key(event: KeyboardEvent, input: HTMLInputElement): void {
    const last = this.rows.length - 1;
    if (event.key === "ArrowDown") this.choose(Math.min(this.active + 1, last), input);
    else if (event.key === "ArrowUp") this.choose(Math.max(this.active - 1, -1), input);
    else if (event.key === "Enter" && !event.isComposing) this.rows[Math.max(this.active, 0)]?.open(event);
    else if (event.key === "Escape" && this.active >= 0) this.choose(-1, input);
    else return;
    event.preventDefault();
  }

  private choose(at: number, input: HTMLInputElement): void {
    this.rows[this.active]?.el.setAttribute("aria-selected", "false");
    this.active = at;
    const row = this.rows[at];
    if (row === undefined) {
      input.removeAttribute("aria-activedescendant");
      return;
    }
    row.el.setAttribute("aria-selected", "true");
    row.el.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", row.el.id);
  }

  // What belongs to the open note

  private async related(): Promise<void> {
    const file = this.app.workspace.getActiveFile();
    if (file === null || file.extension !== "md") {
      this.asked += 1;
      this.clear();
      this.said.setText("Open a note to see what belongs to it.");
      return;
    }
    const text = `${file.basename}\n${(await this.app.vault.cachedRead(file)).slice(0, 2000)}`;
    await this.fill(
      () => this.plugin.api.post<Related>("/v1/related", { path: file.path, text }),
      (said) => this.drawRelated(said, file),
    );
  }

  private drawRelated(said: Related, file: TFile): void {
    const article = said.article;
    if (article !== null) {
      const head = this.list.createDiv({ cls: "afterword-about" });
      head.createDiv({ cls: "afterword-title", text: article.title });
      head.createDiv({ cls: "afterword-facts", text: `${article.status} · updated ${article.updated}` });
      if (article.reason) head.createDiv({ cls: "afterword-warning", text: article.reason });
      else if (article.stale) head.createDiv({ cls: "afterword-warning", text: article.stale });
      const buttons = head.createDiv({ cls: "afterword-buttons" });
      if (article.status === "retracted") this.button(buttons, "Restore", () => this.plugin.restore(file));
      else {
        this.button(buttons, "Useful", () => this.plugin.useful(file));
        this.button(buttons, "Mark as wrong", async () => this.plugin.askWrong(file));
      }
    }
    this.section("Notes", said.notes.length);
    for (const row of said.notes) {
      const el = this.row(row.title, row.why);
      this.hold(el, (event) => void this.plugin.open(row.path, null, Keymap.isModEvent(event)), row.path, null, row.title);
    }
    this.section("Sessions", said.sessions.length);
    for (const row of said.sessions) {
      const el = this.row(row.says, row.path);
      const open = (event: MouseEvent | KeyboardEvent): void =>
        void this.plugin.open(row.path, row.block, Keymap.isModEvent(event));
      this.hold(el, open, row.path, row.block, row.path.replace(/\.md$/, ""));
    }
    if (said.notes.length + said.sessions.length === 0) this.said.setText("Nothing is known that belongs to this note.");
  }

  private section(title: string, count: number): void {
    if (count > 0) this.list.createEl("h4", { text: title });
  }

  private row(title: string, facts: string): HTMLElement {
    const el = this.list.createDiv({ cls: "afterword-result", attr: { role: "link", tabindex: "0", draggable: "true" } });
    el.createDiv({ cls: "afterword-title", text: title });
    el.createDiv({ cls: "afterword-facts", text: facts });
    el.addEventListener("keydown", (event) => {
      if (event.key === "Enter") el.dispatchEvent(new MouseEvent("click", { ctrlKey: event.ctrlKey, metaKey: event.metaKey }));
    });
    return el;
  }

  private button(into: HTMLElement, text: string, act: () => Promise<void>): HTMLButtonElement {
    const button = into.createEl("button", { text, attr: { type: "button" } });
    button.addEventListener("click", () => {
      button.disabled = true;
      void act().finally(() => {
        button.disabled = false;
      });
    });
    return button;
  }

  // What waits for a decision

  private async review(): Promise<void> {
    await this.fill(
      () => this.plugin.api.get<{ candidates: Candidate[] }>("/v1/review"),
      (said) => {
        for (const each of said.candidates) this.drawCandidate(each);
        const count = said.candidates.length;
        this.said.setText(count === 0 ? "Nothing waits for your word." : `${count} to decide.`);
      },
    );
  }

  private drawCandidate(each: Candidate): void {
    const el = this.list.createDiv({ cls: "afterword-candidate", attr: { role: "group", "aria-label": each.what } });
    el.createDiv({ cls: "afterword-facts", text: each.kind });
    el.createDiv({ cls: "afterword-title", text: each.what });
    for (const article of each.articles) {
      const link = el.createEl("a", { text: article.title, cls: "internal-link", attr: { href: "#" } });
      link.addEventListener("click", (event) => {
        event.preventDefault();
        void this.plugin.open(article.path, null, Keymap.isModEvent(event));
      });
      const points = el.createEl("ul");
      for (const point of article.points) points.createEl("li", { text: point });
    }
    for (const line of each.evidence) el.createDiv({ cls: "afterword-snippet", text: line });
    const buttons = el.createDiv({ cls: "afterword-buttons" });
    const decide = (verdict: string) => async (): Promise<void> => {
      try {
        await this.plugin.api.post(`/v1/review/${encodeURIComponent(each.id)}`, { verdict });
        el.remove();
        this.said.setText("Decided.");
      } catch (err) {
        this.trouble(err);
      }
    };
    this.button(buttons, "Yes", decide("accept")).title = each.accept;
    this.button(buttons, "No", decide("reject")).title = each.reject;
    this.button(buttons, "Keep as it is", decide("pin"));
  }
}
