// The daemon's loopback API. `requestUrl` knows no timeout and no abort: a timer races with it.
import { requestUrl } from "obsidian";

export interface Link {
  port: number;
  token: string;
}

export interface SearchRow {
  id: string;
  kind: string;
  title: string | null;
  snippet: string;
  path: string | null;
  block: string | null;
  project: string | null;
  harness: string | null;
  time: string | null;
  stale: boolean;
  why: string[];
  retracted: { says: string; why: string } | null;
}

export interface Found {
  results: SearchRow[];
  total: number;
  semantic: string;
  matched: string;
}

export interface NoteRow {
  uid: string;
  title: string;
  path: string;
  status: string;
  why: string;
}

export interface Related {
  path: string;
  article: (NoteRow & { updated: string; stale: string | null; reason: string | null }) | null;
  notes: NoteRow[];
  sessions: { section: string; path: string; block: string; says: string }[];
}

export interface Candidate {
  id: string;
  kind: string;
  what: string;
  accept: string;
  reject: string;
  articles: { title: string; path: string; points: string[] }[];
  evidence: string[];
}

export interface Pulse {
  state: "idle" | "working" | "review" | "error";
  problem: string | null;
  vault: { id: string | null; name: string | null };
  last_capture: string | null;
  jobs: { running: string | null; waiting: number; failed: string | null };
  review: number;
  index: string;
}

export type Trouble = "off" | "slow" | "unpaired" | "wrong-vault" | "stranger" | "refused";

/** Why there is no answer. `off`: nothing listens; `stranger`: what listens does not know our token. */
export class ApiError extends Error {
  constructor(
    readonly trouble: Trouble,
    message: string,
    readonly hint = "",
  ) {
    super(message);
  }
}

export const TIMEOUT_MS = 10_000;

export class Api {
  private proven = "";

  /** `link` says where and with which token, `vault` which vault this is; both may change at any time. */
  constructor(
    private readonly link: () => Link | null,
    private readonly vault: () => string,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  get<T>(path: string): Promise<T> {
    return this.ask<T>(path, null);
  }

  post<T>(path: string, body: object): Promise<T> {
    return this.ask<T>(path, body);
  }

  /** A token for a pairing code; the vault that the daemon keeps comes with it. */
  static async pair(
    port: number,
    code: string,
  ): Promise<{ token: string; vault: { id: string | null; name: string | null } }> {
    return await send(port, "/v1/pair", { code, name: "Obsidian" }, {}, TIMEOUT_MS);
  }

  private async ask<T>(path: string, body: object | null): Promise<T> {
    const link = this.link();
    if (link === null) throw new ApiError("unpaired", "This vault is not paired with a daemon.", "Run `afterword pair`.");
    const key = `${link.port}:${link.token}`;
    try {
      if (this.proven !== key) {
        await prove(link, this.timeoutMs);
        this.proven = key;
      }
      const headers: Record<string, string> = { Authorization: `Bearer ${link.token}` };
      if (this.vault()) headers["X-Afterword-Vault"] = this.vault();
      return await send<T>(link.port, path, body, headers, this.timeoutMs);
    } catch (err) {
      // Whoever listens there next time has to show again that it is our daemon.
      if (err instanceof ApiError && err.trouble !== "refused") this.proven = "";
      throw err;
    }
  }
}

/** The token is sent to nobody who does not know it: a port may be somebody else's by now. */
async function prove(link: Link, timeoutMs: number): Promise<void> {
  const id = link.token.split("_")[1] ?? "";
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  let said: { proof?: string };
  try {
    said = await send<{ proof?: string }>(link.port, "/v1/hello", { id, nonce }, {}, timeoutMs);
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

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send<T>(
  port: number,
  path: string,
  body: object | null,
  headers: Record<string, string>,
  timeoutMs: number,
): Promise<T> {
  let timer = 0;
  const late = new Promise<never>((_, reject) => {
    timer = window.setTimeout(
      () => reject(new ApiError("slow", "The daemon does not answer in time.", "Try again; `afterword status` says more.")),
      timeoutMs,
    );
  });
  const asked = requestUrl({
    url: `http://127.0.0.1:${port}${path}`,
    method: body === null ? "GET" : "POST",
    headers,
    throw: false,
    ...(body === null ? {} : { contentType: "application/json", body: JSON.stringify(body) }),
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
  let said: unknown;
  try {
    said = JSON.parse(answer.text);
  } catch {
    throw new ApiError("stranger", "What answers there is no Afterword.", "See the port in the settings.");
  }
  if (answer.status === 200) return said as T;
  const error = (said as { error?: { kind?: string; message?: string; hint?: string } }).error ?? {};
  const trouble: Trouble =
    answer.status === 401 ? "unpaired" : error.kind === "wrong-vault" ? "wrong-vault" : "refused";
  throw new ApiError(trouble, error.message ?? `The daemon answered ${answer.status}.`, error.hint);
}
