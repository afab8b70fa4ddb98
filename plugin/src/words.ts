// Pure pieces: no app, no DOM but text nodes.
import type { SearchRow } from "./api";

/** The words of a query that are worth being marked. */
export function wordsOf(query: string): string[] {
  return query
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word.length > 1);
}

/** Writes `text` into `into` as text nodes, words of the query in `mark`; nothing of it is ever read as HTML. */
export function markInto(into: HTMLElement, text: string, words: readonly string[]): void {
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

/** A wiki link to a result, as it is dropped into a note. */
export function linkTo(path: string, block: string | null, title: string): string {
  const target = path.replace(/\.md$/, "") + (block ? `#^${block}` : "");
  const said = title.replace(/[[\]|#^]/g, " ").replace(/\s+/g, " ").trim();
  return said ? `[[${target}|${said}]]` : `[[${target}]]`;
}

export function titleOf(row: SearchRow): string {
  return row.title || row.project || row.kind;
}
