// A small stand-in for the `obsidian` module and the app: what the plugin uses of them, on a page of its own.
// Files and requests go through the page's server, as they go through the app's own process.
(() => {
  const proto = HTMLElement.prototype;
  function fill(el, said = {}) {
    const o = typeof said === "string" ? { cls: said } : said;
    if (o.cls) el.className = o.cls;
    if (o.text !== undefined) el.textContent = o.text;
    if (o.type) el.type = o.type;
    if (o.value !== undefined) el.value = o.value;
    if (o.placeholder) el.placeholder = o.placeholder;
    for (const [name, value] of Object.entries(o.attr ?? {})) el.setAttribute(name, value);
    return el;
  }
  proto.createEl = function (tag, said) {
    const el = fill(document.createElement(tag), said);
    this.appendChild(el);
    return el;
  };
  proto.createDiv = function (said) { return this.createEl("div", said); };
  proto.empty = function () { this.replaceChildren(); };
  proto.setText = function (text) { this.textContent = text; };
  proto.appendText = function (text) { this.appendChild(document.createTextNode(text)); };
  proto.addClass = function (...names) { this.classList.add(...names); };
  window.activeDocument = document;

  class Component {
    registerDomEvent(el, name, act) { el.addEventListener(name, act); }
    registerEvent() {}
  }
  class ItemView extends Component {
    constructor(leaf) {
      super();
      this.leaf = leaf;
      this.app = app;
      this.contentEl = document.getElementById("side");
    }
  }
  class Plugin extends Component {
    constructor() {
      super();
      this.app = app;
      this.commands = {};
      this.protocol = {};
    }
    registerView(type, make) { views[type] = make; }
    registerHoverLinkSource() {}
    addSettingTab(tab) { window.settings = tab; }
    addRibbonIcon() {}
    addStatusBarItem() { return document.getElementById("bar"); }
    addCommand(command) { this.commands[command.id] = command; }
    registerObsidianProtocolHandler(name, act) { this.protocol[name] = act; }
  }
  class Modal {
    constructor() {
      this.containerEl = document.createElement("div");
      this.containerEl.className = "modal";
      this.containerEl.setAttribute("role", "dialog");
      this.titleEl = this.containerEl.createEl("h3");
      this.contentEl = this.containerEl.createDiv();
    }
    open() { document.body.appendChild(this.containerEl); this.onOpen(); }
    close() { this.onClose(); this.containerEl.remove(); }
  }
  class Field {
    constructor(el) { this.inputEl = el; }
    setValue(value) { this.inputEl.value = value; return this; }
    setPlaceholder(text) { this.inputEl.placeholder = text; return this; }
    onChange(act) { this.inputEl.addEventListener("input", () => act(this.inputEl.value)); return this; }
  }
  class Button {
    constructor(el) { this.el = el; }
    setButtonText(text) { this.el.textContent = text; return this; }
    setCta() { this.el.classList.add("mod-cta"); return this; }
    setDisabled(is) { this.el.disabled = is; return this; }
    onClick(act) { this.el.addEventListener("click", act); return this; }
  }
  class Setting {
    constructor(into) {
      this.el = into.createDiv({ cls: "setting" });
      this.name = this.el.createDiv({ cls: "setting-name" });
      this.desc = this.el.createDiv({ cls: "setting-desc" });
    }
    setName(text) { this.name.textContent = text; return this; }
    setDesc(text) { this.desc.textContent = text; return this; }
    addText(act) { act(new Field(this.el.createEl("input"))); return this; }
    addTextArea(act) { act(new Field(this.el.createEl("textarea"))); return this; }
    addButton(act) { act(new Button(this.el.createEl("button"))); return this; }
  }
  class PluginSettingTab {
    constructor() { this.containerEl = document.getElementById("settings"); }
    update() { this.display(); }
  }
  class Notice { constructor(text) { window.notices.push(text); } }
  class TFile {
    constructor(path) {
      this.path = path;
      this.basename = path.replace(/^.*\//, "").replace(/\.md$/, "");
      this.extension = path.replace(/^.*\./, "");
    }
  }

  const views = {};
  let view = null;
  window.notices = [];
  window.opened = [];
  window.active = null;

  function read(path) {
    const asked = new XMLHttpRequest();
    asked.open("GET", `/file?path=${encodeURIComponent(path)}`, false);
    asked.send();
    return asked.status === 200 ? asked.responseText : null;
  }
  const quoted = (value) => (typeof value === "string" && /^[\w-]+$/.test(value) ? value : JSON.stringify(value));
  function matter(text) {
    const found = {};
    for (const line of (text.match(/^---\n(.*?)\n---\n/s)?.[1] ?? "").split("\n")) {
      const pair = line.match(/^(\w+): (.*)$/);
      if (pair) found[pair[1]] = pair[2].startsWith('"') ? JSON.parse(pair[2]) : pair[2];
    }
    return found;
  }

  const secrets = new Map();
  const app = (window.app = {
    secretStorage: { getSecret: (id) => secrets.get(id) ?? null, setSecret: (id, value) => secrets.set(id, value) },
    loadLocalStorage: (key) => localStorage.getItem(key),
    saveLocalStorage: (key, value) => localStorage.setItem(key, value),
    vault: {
      adapter: { read: async (path) => read(path) ?? Promise.reject(new Error("not there")) },
      getAbstractFileByPath: (path) => (read(path) === null ? null : new TFile(path)),
      cachedRead: async (file) => read(file.path),
    },
    metadataCache: { getFileCache: (file) => ({ frontmatter: matter(read(file.path) ?? "") }) },
    fileManager: {
      async processFrontMatter(file, act) {
        const text = read(file.path);
        const before = matter(text);
        const after = { ...before };
        act(after);
        let head = text.match(/^---\n(.*?\n)---\n/s)[1];
        for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
          if (before[name] === after[name]) continue;
          const line = new RegExp(`^${name}: .*\n`, "m");
          const now = after[name] === undefined ? "" : `${name}: ${quoted(after[name])}\n`;
          head = line.test(head) ? head.replace(line, () => now) : head + now;
        }
        const body = text.replace(/^---\n.*?\n---\n/s, () => `---\n${head}---\n`);
        const said = await fetch(`/file?path=${encodeURIComponent(file.path)}`, { method: "PUT", body });
        if (!said.ok) throw new Error("it was not written");
      },
    },
    workspace: {
      on: () => ({}),
      trigger: (name, said) => { window.hovered = said; },
      onLayoutReady: (act) => act(),
      getActiveFile: () => (window.active ? new TFile(window.active) : null),
      openLinkText: async (link, _from, leaf) => { window.opened.push([link, leaf]); },
      async ensureSideLeaf(type) {
        if (view === null) {
          view = views[type]({});
          await view.onOpen();
        }
        return { view };
      },
    },
  });

  window.obsidian = {
    ItemView, Plugin, Modal, Setting, PluginSettingTab, Notice, TFile,
    Keymap: { isModEvent: (event) => (event.ctrlKey || event.metaKey ? "tab" : false) },
    normalizePath: (path) => path.replace(/\/+/g, "/"),
    moment: () => ({ format: () => new Date().toISOString().slice(0, 10) }),
    requireApiVersion: () => false,
    async requestUrl(asked) {
      const said = await fetch("/request", { method: "POST", body: JSON.stringify(asked) });
      if (said.status === 502) throw new Error("net::ERR_CONNECTION_REFUSED");
      return await said.json();
    },
  };
  window.begin = async () => {
    const made = { exports: {} };
    new Function("module", "exports", "require", await (await fetch("/main.js")).text())(
      made, made.exports, () => window.obsidian,
    );
    window.plugin = new made.exports.default();
    await window.plugin.onload();
  };
})();
