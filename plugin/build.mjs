// Bundles src/ into the vault template: `npm run build`. The bundle is not minified, so that it can be read.
import { copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const into = process.argv[2] ?? path.join(here, "../vault_template/.obsidian/plugins/afterword");

await mkdir(into, { recursive: true });
await esbuild.build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  outfile: path.join(into, "main.js"),
  bundle: true,
  external: ["obsidian"],
  format: "cjs",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  banner: { js: "/* Made from plugin/src of Afterword by `npm run build`; changes here are lost. */" },
});
for (const name of ["manifest.json", "styles.css"]) await copyFile(path.join(here, name), path.join(into, name));
