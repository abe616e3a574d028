import { KEPT_BACKUPS } from "../../database/nightly-backups.ts"
import { card, empty } from "../../ui/app/parts.ts"
import {
  confirmPage,
  formCard,
  listItem,
  type SettingsSection,
  type SettingsVisit,
  sectionAddress,
  settingsForm,
} from "../../ui/app/settings.ts"
import { FormProblem } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"
import { findingTable } from "./health.ts"
import type { BackupFile, Machine } from "./machine.ts"

const PATH = "data"
const back = sectionAddress(PATH)
const BACKUP_MS = 3_600_000
const DOCTOR_MS = 70_000

/** The checks of `appmeter doctor` that are about stored data. */
const DATA_CHECKS = ["DATA_DIR", "size", "disk", "RAW_DIR", "database"]

const CONTENTS = "They contain hashes of keys and encrypted secrets, but not SECRET_KEY."

/** The data stored on the machine, and its backups, for the operator. */
export function dataSection(machine: Machine): SettingsSection {
  const find = async (fields: URLSearchParams): Promise<BackupFile> => {
    const backup = (await machine.listBackups()).find(({ name }) => name === fields.get("id"))
    if (backup) return backup
    throw new FormProblem({ "": "There is no such backup any more." })
  }
  const findOwn = async (fields: URLSearchParams): Promise<BackupFile> => {
    const backup = await find(fields)
    if (!backup.isNightly) return backup
    throw new FormProblem({ "": "The server deletes nightly backups by itself." })
  }
  return {
    name: "Data and backups",
    about: "See what is stored on this machine, and make backups.",
    path: PATH,
    needs: "server:operate",
    notices: {
      made: "The backup is complete. Download it, and keep it on another machine.",
      deleted: "The backup is deleted.",
    },
    async show(visit) {
      const backups = await machine.listBackups()
      const place = html`Backups made here are stored in <code>${machine.backupFolder}</code>.`
      const { nightlyFolder } = machine
      const nightly =
        nightlyFolder === undefined
          ? html`Set <code>BACKUP_DIR</code> to a folder, and the server also makes one each night.`
          : html`The server makes one each night in <code>${nightlyFolder}</code> and keeps the newest
${KEPT_BACKUPS}.`
      const make = settingsForm(visit, { form: "make", button: "Back up now", tone: "main" })
      const about = html`<p class="small quiet">${place} ${nightly} ${CONTENTS}</p>`
      const measure = settingsForm(visit, { form: "measure", button: "Show sizes" })
      return html`${card("Backups", html`${backupPart(visit, backups)}<div class="inside">${about}${make}</div>`)}
${formCard("Stored data", html`<p>Size of the database, stored responses and free space.</p>`, measure)}`
    },
    forms: {
      make: {
        audit: "backup",
        limitMs: BACKUP_MS,
        async send() {
          await machine.backUp()
          return { to: back, done: "made" }
        },
      },
      measure: {
        audit: null,
        limitMs: DOCTOR_MS,
        async send() {
          const findings = (await machine.examine()).filter(({ thing }) => DATA_CHECKS.includes(thing))
          const link = html`<p class="pages"><a href="${back}">Data and backups</a></p>`
          return {
            page: {
              title: "Stored data",
              at: "/settings",
              body: card("Stored data", html`${findingTable(findings)}${link}`),
            },
          }
        },
      },
      download: {
        audit: "backup download",
        async send(_, fields) {
          const { name } = await find(fields)
          const file = await machine.readBackup(name)
          if (!file) throw new FormProblem({ "": "There is no such backup any more." })
          const headers = {
            "content-type": "application/gzip",
            "content-length": String(file.bytes),
            "content-disposition": `attachment; filename="${name}"`,
          }
          return { file: { status: 200, headers, body: file.content } }
        },
      },
      delete: {
        audit: null,
        async send(visit, fields) {
          const { name } = await findOwn(fields)
          const body = `${name} is removed from this machine. This cannot be undone.`
          return {
            page: confirmPage(visit, {
              title: "Delete this backup?",
              body,
              form: "deleted",
              of: name,
              button: "Delete backup",
              cancel: back,
            }),
          }
        },
      },
      deleted: {
        audit: "backup delete",
        async send(_, fields) {
          await machine.deleteBackup((await findOwn(fields)).name)
          return { to: back, done: "deleted" }
        },
      },
    },
  }
}

function backupPart(visit: SettingsVisit, backups: readonly BackupFile[]): Html {
  if (backups.length === 0)
    return empty(
      "No backup was made yet",
      "A backup is one file. It restores into the embedded database or PostgreSQL.",
    )
  const last = momentTime(backups[0]!.at.toISOString())
  const items = backups.map(({ name, bytes, at, isNightly }) => {
    const download = settingsForm(visit, { form: "download", of: name, button: "Download", tone: "quiet" })
    const remove = !isNightly && settingsForm(visit, { form: "delete", of: name, button: "Delete…", tone: "quiet" })
    const size = html`<span class="quiet">${inUnits(bytes)}</span>`
    const title = html`<span class="hash">${name}</span> ${size}${isNightly && html` <span class="tag">nightly</span>`}`
    return listItem(title, momentTime(at.toISOString()), html`${download}${remove}`)
  })
  return html`<div class="inside"><p>${counted(backups.length, "backup")}, the last ${last}.</p></div>
<ul class="list">${items}</ul>`
}

function inUnits(bytes: number): string {
  return bytes >= 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MB` : `${Math.ceil(bytes / 1_024)} kB`
}
