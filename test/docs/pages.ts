import { actions, catalog } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import { MANUAL_FOLDER, manualTexts } from "../../src/docs/manual.ts"

export const manual = manualTexts({ files: readTree(MANUAL_FOLDER, ".md"), catalog, actions })

/** Returns a page of the manual as Markdown. */
export function pageOf(name: string): string {
  return manual.get(name) as string
}

/** Returns the cells of every table row, headings included. */
export function cells(text: string): string[][] {
  const rows = text.split("\n").filter((line) => line.startsWith("| "))
  return rows.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
