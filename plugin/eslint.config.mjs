import obsidianmd from "eslint-plugin-obsidianmd";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig([
  { ignores: ["node_modules", "*.mjs"] },
  ...obsidianmd.configs.recommended,
  {
    files: ["src/**/*.ts"],
    rules: { "obsidianmd/ui/sentence-case": ["warn", { brands: ["Afterword", "Obsidian"] }] },
    languageOptions: { parser: tseslint.parser, parserOptions: { project: "./tsconfig.json" } },
  },
]);
