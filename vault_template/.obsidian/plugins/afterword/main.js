/* Made from plugin/src of Afterword by `npm run build`; changes here are lost. */
"use strict";
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// src/main.ts
var main_exports = {};
__export(main_exports, {
  default: () => AfterwordPlugin
});
module.exports = __toCommonJS(main_exports);
var import_obsidian5 = require("obsidian");

// src/api.ts
var import_obsidian = require("obsidian");
var ApiError = class extends Error {
  constructor(trouble, message, hint = "") {
    super(message);
    this.trouble = trouble;
    this.hint = hint;
  }
};
var TIMEOUT_MS = 1e4;
var Api = class {
  /** `link` says where and with which token, `vault` which vault this is; both may change at any time. */
  constructor(link, vault, timeoutMs = TIMEOUT_MS) {
    this.link = link;
    this.vault = vault;
    this.timeoutMs = timeoutMs;
  }
  proven = "";
  get(path) {
    return this.ask(path, null);
  }
  post(path, body) {
    return this.ask(path, body);
  }
  /** A token for a pairing code; the vault that the daemon keeps comes with it. */
  static async pair(port, code) {
    return await send(port, "/v1/pair", { code, name: "Obsidian" }, {}, TIMEOUT_MS);
  }
  async ask(path, body) {
    const link = this.link();
    if (link === null) throw new ApiError("unpaired", "This vault is not paired with a daemon.", "Run `afterword pair`.");
    const key = `${link.port}:${link.token}`;
    try {
      if (this.proven !== key) {
        await prove(link, this.timeoutMs);
        this.proven = key;
      }
      const headers = { Authorization: `Bearer ${link.token}` };
      if (this.vault()) headers["X-Afterword-Vault"] = this.vault();
      return await send(link.port, path, body, headers, this.timeoutMs);
    } catch (err) {
      if (err instanceof ApiError && err.trouble !== "refused") this.proven = "";
      throw err;
    }
  }
};
async function prove(link, timeoutMs) {
  const id = link.token.split("_")[1] ?? "";
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  let said;
  try {
    said = await send(link.port, "/v1/hello", { id, nonce }, {}, timeoutMs);
  } catch (err) {
    if (err instanceof ApiError && err.trouble === "refused") {
      throw new ApiError("unpaired", "The daemon does not know this vault any more.", "Pair again: `afterword pair`.");
    }
    throw err;
  }
  const bytes = new TextEncoder();
  const digest = await crypto.subtle.digest("SHA-256", bytes.encode(link.token));
  const key = await crypto.subtle.importKey("raw", digest, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const wanted = hex(new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(`${nonce}:${link.port}`))));
  if (said.proof !== wanted) {
    throw new ApiError("stranger", `What listens at port ${link.port} is not our daemon.`, "Pair again: `afterword pair`.");
  }
}
function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
async function send(port, path, body, headers, timeoutMs) {
  let timer = 0;
  const late = new Promise((_, reject) => {
    timer = window.setTimeout(
      () => reject(new ApiError("slow", "The daemon does not answer in time.", "Try again; `afterword status` says more.")),
      timeoutMs
    );
  });
  const asked = (0, import_obsidian.requestUrl)({
    url: `http://127.0.0.1:${port}${path}`,
    method: body === null ? "GET" : "POST",
    headers,
    throw: false,
    ...body === null ? {} : { contentType: "application/json", body: JSON.stringify(body) }
  });
  let answer;
  try {
    answer = await Promise.race([asked, late]);
  } catch (err) {
    if (err instanceof ApiError) throw err;
    throw new ApiError("off", "The daemon does not run.", "Start it: `afterword up`.");
  } finally {
    window.clearTimeout(timer);
  }
  let said;
  try {
    said = JSON.parse(answer.text);
  } catch {
    throw new ApiError("stranger", "What answers there is no Afterword.", "See the port in the settings.");
  }
  if (answer.status === 200) return said;
  const error = said.error ?? {};
  const trouble = answer.status === 401 ? "unpaired" : error.kind === "wrong-vault" ? "wrong-vault" : "refused";
  throw new ApiError(trouble, error.message ?? `The daemon answered ${answer.status}.`, error.hint);
}

// src/modals.ts
var import_obsidian2 = require("obsidian");
var WrongModal = class extends import_obsidian2.Modal {
  constructor(app, title, done) {
    super(app);
    this.title = title;
    this.done = done;
  }
  reason = "";
  onOpen() {
    this.titleEl.setText("Mark as wrong");
    this.contentEl.createEl("p", { text: this.title });
    new import_obsidian2.Setting(this.contentEl).setName("Why does it not hold?").addTextArea((area) => {
      area.inputEl.setAttribute("aria-label", "Reason");
      area.onChange((value) => {
        this.reason = value;
      });
      window.setTimeout(() => area.inputEl.focus(), 0);
    });
    const said = this.contentEl.createDiv({ cls: "afterword-warning", attr: { role: "alert" } });
    new import_obsidian2.Setting(this.contentEl).addButton((button) => button.setButtonText("Cancel").onClick(() => this.close())).addButton(
      (button) => button.setButtonText("Mark as wrong").setCta().onClick(() => {
        const reason = this.reason.replace(/\s+/g, " ").trim();
        if (reason === "") {
          said.setText("Say why: the note will show it.");
          return;
        }
        this.close();
        this.done(reason);
      })
    );
  }
  onClose() {
    this.contentEl.empty();
  }
};
var PairModal = class extends import_obsidian2.Modal {
  constructor(app, port, done) {
    super(app);
    this.port = port;
    this.done = done;
  }
  onOpen() {
    this.titleEl.setText("Pair with Afterword?");
    this.contentEl.createEl("p", {
      text: `Something asks to pair this vault with the program at port ${this.port} of this machine. Go on only if you have just run “afterword pair”.`
    });
    new import_obsidian2.Setting(this.contentEl).addButton((button) => button.setButtonText("Cancel").onClick(() => this.close())).addButton(
      (button) => button.setButtonText("Pair").setCta().onClick(() => {
        this.close();
        this.done();
      })
    );
  }
  onClose() {
    this.contentEl.empty();
  }
};

// src/panel.ts
var import_obsidian3 = require("obsidian");

// src/words.ts
function wordsOf(query) {
  return query.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter((word) => word.length > 1);
}
function markInto(into, text, words) {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (escaped.length === 0) {
    into.appendText(text);
    return;
  }
  const pattern = new RegExp(`(${escaped.join("|")})`, "giu");
  text.split(pattern).forEach((part, at) => {
    if (at % 2 === 1) into.createEl("mark", { text: part });
    else if (part !== "") into.appendText(part);
  });
}
function linkTo(path, block, title) {
  const target = path.replace(/\.md$/, "") + (block ? `#^${block}` : "");
  const said = title.replace(/[[\]|#^]/g, " ").replace(/\s+/g, " ").trim();
  return said ? `[[${target}|${said}]]` : `[[${target}]]`;
}
function titleOf(row) {
  return row.title || row.project || row.kind;
}

// src/panel.ts
var PANEL = "afterword-panel";
var DEBOUNCE_MS = 250;
var TABS = { search: "Search", related: "Related", review: "Review" };
var Panel = class extends import_obsidian3.ItemView {
  constructor(leaf, plugin) {
    super(leaf);
    this.plugin = plugin;
  }
  tab = "search";
  asked = 0;
  timer = 0;
  active = -1;
  rows = [];
  body;
  list;
  said;
  buttons = /* @__PURE__ */ new Map();
  query = "";
  mode = "both";
  kind = "";
  project = "";
  since = "";
  getViewType() {
    return PANEL;
  }
  getDisplayText() {
    return "Afterword";
  }
  getIcon() {
    return "book-open-check";
  }
  async onOpen() {
    const root = this.contentEl;
    root.empty();
    root.addClass("afterword-panel");
    const tabs = root.createDiv({ cls: "afterword-tabs", attr: { role: "tablist", "aria-label": "Afterword" } });
    for (const [tab, label] of Object.entries(TABS)) {
      const button = tabs.createEl("button", { text: label, attr: { role: "tab", type: "button" } });
      this.registerDomEvent(button, "click", () => this.show(tab));
      this.buttons.set(tab, button);
    }
    this.registerDomEvent(tabs, "keydown", (event) => this.moveTab(event));
    this.body = root.createDiv({ cls: "afterword-body", attr: { role: "tabpanel" } });
    this.registerEvent(
      this.app.workspace.on("file-open", () => {
        if (this.tab === "related") this.show("related");
      })
    );
    this.show(this.tab);
  }
  async onClose() {
    window.clearTimeout(this.timer);
    this.asked += 1;
  }
  show(tab) {
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
  focusSearch() {
    this.body.querySelector("input[type=search]")?.focus();
  }
  moveTab(event) {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const order = [...this.buttons.keys()];
    const next = order[(order.indexOf(this.tab) + step + order.length) % order.length];
    if (next === void 0) return;
    this.show(next);
    this.buttons.get(next)?.focus();
  }
  clear() {
    this.list.empty();
    this.rows = [];
    this.active = -1;
  }
  /** Asks, and shows the answer unless something else was asked meanwhile. */
  async fill(ask, draw) {
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
  trouble(err) {
    if (!(err instanceof ApiError)) throw err;
    this.said.setText([err.message, err.hint].filter(Boolean).join(" "));
    void this.plugin.beat();
  }
  // Search
  drawSearch() {
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
        "aria-autocomplete": "list"
      }
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
      }
    );
    this.choice(filters, "Since", this.since, { "": "Any time", "7d": "7 days", "30d": "30 days", "365d": "A year" }, (value) => {
      this.since = value;
    });
    const project = filters.createEl("input", {
      type: "text",
      value: this.project,
      placeholder: "Project",
      attr: { "aria-label": "Project" }
    });
    this.registerDomEvent(project, "input", () => {
      this.project = project.value.trim();
      this.later();
    });
  }
  choice(into, label, value, options, set) {
    const select = into.createEl("select", { cls: "dropdown", attr: { "aria-label": label } });
    for (const [name, text] of Object.entries(options)) select.createEl("option", { text, value: name });
    select.value = value;
    this.registerDomEvent(select, "change", () => {
      set(select.value);
      void this.search();
    });
  }
  later() {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.search(), DEBOUNCE_MS);
  }
  async search() {
    const query = this.query.trim();
    if (query === "") {
      this.asked += 1;
      this.clear();
      this.said.setText("");
      return;
    }
    const asked = { query, mode: this.mode, limit: 30 };
    if (this.kind) asked.kind = this.kind;
    if (this.project) asked.project = this.project;
    if (this.since) asked.since = this.since;
    await this.fill(
      () => this.plugin.api.post("/v1/search", asked),
      (found) => {
        const words = wordsOf(query);
        this.list.setAttribute("role", "listbox");
        this.list.setAttribute("aria-label", `Results for ${query}`);
        for (const row of found.results) this.drawResult(row, words);
        const count = found.results.length;
        const more = found.total > count ? ` of ${found.total}` : "";
        const built = found.semantic === "building" ? " The index by meaning is being made." : "";
        this.said.setText((count === 0 ? "Nothing holds this." : `${count}${more} results.`) + built);
      }
    );
  }
  drawResult(row, words) {
    const at = this.rows.length;
    const el = this.list.createDiv({
      cls: "afterword-result",
      attr: { role: "option", id: `afterword-result-${at}`, "aria-selected": "false", draggable: "true" }
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
    const open = (event) => {
      void this.openResult(row, event);
    };
    this.hold(el, open, row.path, row.block, titleOf(row));
  }
  async openResult(row, event) {
    const newLeaf = import_obsidian3.Keymap.isModEvent(event);
    try {
      const place = row.path === null ? await this.plugin.api.post("/v1/open", { result: row.id }) : row;
      await this.plugin.open(place.path ?? "", place.block, newLeaf);
    } catch (err) {
      this.trouble(err);
    }
  }
  /** Click, keys, hover and drag of a row that leads to a note. */
  hold(el, open, path, block, title) {
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
        linktext: path + (block ? `#^${block}` : "")
      });
    });
  }
  key(event, input) {
    const last = this.rows.length - 1;
    if (event.key === "ArrowDown") this.choose(Math.min(this.active + 1, last), input);
    else if (event.key === "ArrowUp") this.choose(Math.max(this.active - 1, -1), input);
    else if (event.key === "Enter" && !event.isComposing) this.rows[Math.max(this.active, 0)]?.open(event);
    else if (event.key === "Escape" && this.active >= 0) this.choose(-1, input);
    else return;
    event.preventDefault();
  }
  choose(at, input) {
    this.rows[this.active]?.el.setAttribute("aria-selected", "false");
    this.active = at;
    const row = this.rows[at];
    if (row === void 0) {
      input.removeAttribute("aria-activedescendant");
      return;
    }
    row.el.setAttribute("aria-selected", "true");
    row.el.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", row.el.id);
  }
  // What belongs to the open note
  async related() {
    const file = this.app.workspace.getActiveFile();
    if (file === null || file.extension !== "md") {
      this.asked += 1;
      this.clear();
      this.said.setText("Open a note to see what belongs to it.");
      return;
    }
    const text = `${file.basename}
${(await this.app.vault.cachedRead(file)).slice(0, 2e3)}`;
    await this.fill(
      () => this.plugin.api.post("/v1/related", { path: file.path, text }),
      (said) => this.drawRelated(said, file)
    );
  }
  drawRelated(said, file) {
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
      this.hold(el, (event) => void this.plugin.open(row.path, null, import_obsidian3.Keymap.isModEvent(event)), row.path, null, row.title);
    }
    this.section("Sessions", said.sessions.length);
    for (const row of said.sessions) {
      const el = this.row(row.says, row.path);
      const open = (event) => void this.plugin.open(row.path, row.block, import_obsidian3.Keymap.isModEvent(event));
      this.hold(el, open, row.path, row.block, row.path.replace(/\.md$/, ""));
    }
    if (said.notes.length + said.sessions.length === 0) this.said.setText("Nothing is known that belongs to this note.");
  }
  section(title, count) {
    if (count > 0) this.list.createEl("h4", { text: title });
  }
  row(title, facts) {
    const el = this.list.createDiv({ cls: "afterword-result", attr: { role: "link", tabindex: "0", draggable: "true" } });
    el.createDiv({ cls: "afterword-title", text: title });
    el.createDiv({ cls: "afterword-facts", text: facts });
    el.addEventListener("keydown", (event) => {
      if (event.key === "Enter") el.dispatchEvent(new MouseEvent("click", { ctrlKey: event.ctrlKey, metaKey: event.metaKey }));
    });
    return el;
  }
  button(into, text, act) {
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
  async review() {
    await this.fill(
      () => this.plugin.api.get("/v1/review"),
      (said) => {
        for (const each of said.candidates) this.drawCandidate(each);
        const count = said.candidates.length;
        this.said.setText(count === 0 ? "Nothing waits for your word." : `${count} to decide.`);
      }
    );
  }
  drawCandidate(each) {
    const el = this.list.createDiv({ cls: "afterword-candidate", attr: { role: "group", "aria-label": each.what } });
    el.createDiv({ cls: "afterword-facts", text: each.kind });
    el.createDiv({ cls: "afterword-title", text: each.what });
    for (const article of each.articles) {
      const link = el.createEl("a", { text: article.title, cls: "internal-link", attr: { href: "#" } });
      link.addEventListener("click", (event) => {
        event.preventDefault();
        void this.plugin.open(article.path, null, import_obsidian3.Keymap.isModEvent(event));
      });
      const points = el.createEl("ul");
      for (const point of article.points) points.createEl("li", { text: point });
    }
    for (const line of each.evidence) el.createDiv({ cls: "afterword-snippet", text: line });
    const buttons = el.createDiv({ cls: "afterword-buttons" });
    const decide = (verdict) => async () => {
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
};

// src/settings.ts
var import_obsidian4 = require("obsidian");
var AfterwordSettings = class extends import_obsidian4.PluginSettingTab {
  constructor(app, plugin) {
    super(app, plugin);
    this.plugin = plugin;
  }
  code = "";
  /** Obsidian 1.13 and newer asks for rows, and finds them by its search. */
  getSettingDefinitions() {
    return this.rows().map(({ name, desc, fill }) => ({ name, desc, render: fill }));
  }
  /** Older versions have the page drawn. */
  display() {
    this.draw();
  }
  draw() {
    if ((0, import_obsidian4.requireApiVersion)("1.13.0")) {
      this.update();
      return;
    }
    this.containerEl.empty();
    for (const { name, desc, fill } of this.rows()) fill(new import_obsidian4.Setting(this.containerEl).setName(name).setDesc(desc));
  }
  rows() {
    const found = [
      { name: "State", desc: this.plugin.stateWords(), fill: () => void 0 },
      {
        name: "Port",
        desc: "Where the daemon listens on this machine; “afterword pair” prints it.",
        fill: (row) => this.port(row)
      },
      {
        name: "Pairing code",
        desc: "Run “afterword pair” in a terminal, and put the code in here within two minutes.",
        fill: (row) => this.pairing(row)
      }
    ];
    if (this.plugin.paired) {
      found.push({
        name: "Forget the pairing",
        desc: "The daemon keeps it until “afterword pair revoke”.",
        fill: (row) => this.forgetting(row)
      });
    }
    return found;
  }
  port(row) {
    row.addText((text) => {
      text.inputEl.type = "number";
      text.inputEl.setAttribute("aria-label", "Port");
      text.setValue(this.plugin.port ? String(this.plugin.port) : "").onChange((value) => {
        const port = Number(value);
        if (Number.isInteger(port) && port > 0 && port < 65536) this.plugin.port = port;
      });
    });
  }
  pairing(row) {
    row.addText((text) => {
      text.inputEl.setAttribute("aria-label", "Pairing code");
      text.onChange((value) => {
        this.code = value.trim();
      });
    });
    row.addButton(
      (button) => button.setButtonText("Pair").setCta().onClick(async () => {
        button.setDisabled(true);
        await this.plugin.pair(this.plugin.port, this.code);
        this.draw();
      })
    );
  }
  forgetting(row) {
    row.addButton(
      (button) => button.setButtonText("Forget").onClick(() => {
        this.plugin.forget();
        new import_obsidian4.Notice("This vault is not paired any more.");
        this.draw();
      })
    );
  }
};

// src/main.ts
var SECRET = "afterword-token";
var PORT = "afterword-port";
var BEAT_MS = 15e3;
var BEAT_MOST_MS = 12e4;
var AfterwordPlugin = class extends import_obsidian5.Plugin {
  api;
  bar;
  vaultId = "";
  pulse = null;
  trouble = null;
  timer = 0;
  waitMs = BEAT_MS;
  beating = 0;
  async onload() {
    this.api = new Api(
      () => this.port && this.token ? { port: this.port, token: this.token } : null,
      () => this.vaultId
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
  onunload() {
    window.clearTimeout(this.timer);
    this.beating += 1;
  }
  addCommands() {
    const show = (id, name) => {
      this.addCommand({ id, name, callback: () => void this.reveal(id) });
    };
    show("search", "Search");
    show("related", "Open related notes");
    show("review", "Open the review queue");
    this.addCommand({ id: "sync-now", name: "Sync now", callback: () => void this.syncNow() });
    this.addCommand({ id: "status", name: "Show daemon status", callback: () => void this.showState() });
    const onArticle = (id, name, wrong, act) => {
      this.addCommand({
        id,
        name,
        checkCallback: (checking) => {
          const file = this.article();
          if (file === null || this.isWrong(file) !== wrong) return false;
          if (!checking) void act(file);
          return true;
        }
      });
    };
    onArticle("mark-wrong", "Mark this article as wrong", false, (file) => this.askWrong(file));
    onArticle("restore", "Restore this article", true, (file) => this.restore(file));
    onArticle("useful", "This article was useful", false, (file) => this.useful(file));
  }
  async begin() {
    try {
      const card = JSON.parse(await this.app.vault.adapter.read(".afterword/vault.json"));
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
  get port() {
    return Number(this.app.loadLocalStorage(PORT) ?? 0);
  }
  set port(port) {
    this.app.saveLocalStorage(PORT, String(port));
  }
  get token() {
    return this.app.secretStorage.getSecret(SECRET) ?? "";
  }
  get paired() {
    return this.token !== "";
  }
  async pair(port, code) {
    try {
      const said = await Api.pair(port, code);
      if (this.vaultId && said.vault.id && said.vault.id !== this.vaultId) {
        new import_obsidian5.Notice(`That daemon keeps another vault: ${said.vault.name ?? "unnamed"}.`);
        return;
      }
      this.port = port;
      this.app.secretStorage.setSecret(SECRET, said.token);
      new import_obsidian5.Notice("Paired with Afterword.");
    } catch (err) {
      this.complain(err);
    }
    await this.beat();
  }
  forget() {
    this.app.secretStorage.setSecret(SECRET, "");
    void this.beat();
  }
  // The status bar
  /** Asks how it goes, now and then again: soon while it answers, more and more seldom while it does not. */
  async beat() {
    const mine = ++this.beating;
    window.clearTimeout(this.timer);
    try {
      const pulse = await this.api.get("/v1/pulse");
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
  short() {
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
      case void 0:
        break;
    }
    const pulse = this.pulse;
    if (pulse === null) return "…";
    if (pulse.state === "error") return "error";
    if (pulse.state === "working") return `working ${pulse.jobs.waiting}`;
    return pulse.review > 0 ? `review ${pulse.review}` : "idle";
  }
  stateWords() {
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
  async showState() {
    await this.beat();
    new import_obsidian5.Notice(this.stateWords());
  }
  // What a person does
  async reveal(tab) {
    const leaf = await this.app.workspace.ensureSideLeaf(PANEL, "right", { active: true });
    if (!(leaf.view instanceof Panel)) return;
    leaf.view.show(tab);
    if (tab === "search") leaf.view.focusSearch();
  }
  /** Opens a note of this vault at a block; what is not in it is not made. */
  async open(path, block, newLeaf) {
    const file = this.app.vault.getAbstractFileByPath((0, import_obsidian5.normalizePath)(path));
    if (!(file instanceof import_obsidian5.TFile)) {
      new import_obsidian5.Notice("That note is not in this vault.");
      return;
    }
    const safe = block !== null && /^[A-Za-z0-9-]+$/.test(block) ? `#^${block}` : "";
    await this.app.workspace.openLinkText(file.path + safe, "", newLeaf);
  }
  askWrong(file) {
    new WrongModal(this.app, file.basename, (reason) => void this.markWrong(file, reason)).open();
  }
  /** The front matter first: the daemon reads it there, now or when it runs again. */
  async markWrong(file, reason) {
    await this.app.fileManager.processFrontMatter(file, (matter) => {
      matter.status = "retracted";
      matter.retract_reason = reason;
      matter.retracted_on = (0, import_obsidian5.moment)().format("YYYY-MM-DD");
    });
    new import_obsidian5.Notice("Marked as wrong.");
    await this.beat();
  }
  async restore(file) {
    await this.app.fileManager.processFrontMatter(file, (matter) => {
      matter.status = "active";
      delete matter.retract_reason;
      delete matter.retracted_on;
      delete matter.replaced_by;
    });
    new import_obsidian5.Notice("It holds again.");
    await this.beat();
  }
  async useful(file) {
    try {
      await this.api.post("/v1/useful", { id: file.path });
      new import_obsidian5.Notice("Counted as useful.");
    } catch (err) {
      this.complain(err);
    }
  }
  async syncNow() {
    try {
      const said = await this.api.post("/v1/sync/now", {});
      new import_obsidian5.Notice(said.peers.length ? `Reading, and exchanging with ${said.peers.join(", ")}.` : "Reading what is new.");
    } catch (err) {
      this.complain(err);
    }
    await this.beat();
  }
  complain(err) {
    if (!(err instanceof ApiError)) throw err;
    new import_obsidian5.Notice([err.message, err.hint].filter(Boolean).join(" "));
  }
  /** The open article of ours; none for any other note. */
  article() {
    const file = this.app.workspace.getActiveFile();
    const matter = file ? this.app.metadataCache.getFileCache(file)?.frontmatter : void 0;
    return typeof matter?.uid === "string" && matter.uid.startsWith("a-") ? file : null;
  }
  isWrong(file) {
    return this.app.metadataCache.getFileCache(file)?.frontmatter?.status === "retracted";
  }
};
