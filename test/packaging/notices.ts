import { readFileSync } from "node:fs"
import { join } from "node:path"
import licences from "spdx-license-list/full"
import { COMPONENTS, type Component } from "./components.ts"
import type { Package } from "./production-packages.ts"

const RULE = "-".repeat(100)

/**
 * Returns the licences of a release as plain text: Appmeter's own, each package's, and those of software and data
 * within the packages and the runtime. A package without a licence file is listed with its author and the standard
 * text.
 */
export function noticesOf(version: string, packages: readonly Package[]): string {
  const [withText, withoutText] = [
    packages.filter(({ licenceText }) => licenceText !== null),
    packages.filter(({ licenceText }) => licenceText === null),
  ]
  const standard = new Set([...withoutText, ...COMPONENTS].map(({ licence }) => licence))
  const license = readFileSync(join(import.meta.dirname, "../../LICENSE"), "utf8").trim()
  return [
    `Appmeter ${version} and the software in it`,
    license,
    section("Packages", packages.map(titleOf)),
    section("Software and data within packages, and in the runtime (bun) of the binary", COMPONENTS.map(lineOf)),
    ...withText.map((part) => block(titleOf(part), [part.licenceText, part.noticeText].filter(Boolean).join("\n\n"))),
    ...[...standard].sort().map((licence) => block(`Text of ${licence}`, textOf(licence))),
  ]
    .join("\n\n")
    .concat("\n")
}

/** Returns the line with which NOTICES lists a package. */
export function titleOf({ name, version, licence, author }: Package): string {
  return `${name} ${version} (${licence}${author === null ? "" : `, ${author}`})`
}

/** Returns the line with which NOTICES lists a component. */
export function lineOf({ within, name, licence, copyright, website }: Component): string {
  return `${within}: ${name} (${licence}), Copyright (c) ${copyright}, ${website}`
}

function section(title: string, lines: readonly string[]): string {
  return [RULE, title, "", ...lines].join("\n")
}

function block(title: string, text: string): string {
  return [RULE, title, "", text].join("\n")
}

function textOf(licence: string): string {
  const found = licences[licence]
  if (!found) throw new Error(`no text of the licence ${licence} is known; name it by its SPDX id`)
  return found.licenseText.trim()
}
