import { card } from "../../ui/app/parts.ts"
import {
  formCard,
  namedTable,
  type SettingsSection,
  sectionAddress,
  settingsForm,
  stateTag,
} from "../../ui/app/settings.ts"
import { type Html, html } from "../../ui/html.ts"
import type { Machine, MachineFinding } from "./machine.ts"
import { sourcesPart } from "./sources.ts"

const PATH = "health"
const DOCTOR_MS = 70_000

/** The status of the stores and of the installation, for the operator. */
export function healthSection(machine: Machine): SettingsSection {
  return {
    name: "Sources and health",
    about: "See whether the stores answer, and check the installation.",
    path: PATH,
    needs: "server:operate",
    notices: {},
    async show(visit) {
      const check = settingsForm(visit, { form: "check", button: "Check the installation", tone: "main" })
      const about = html`<p>${CHECKED} It changes nothing.</p>`
      return html`${formCard("Installation", about, check)}${await sourcesPart(visit.context)}`
    },
    forms: {
      check: {
        audit: null,
        limitMs: DOCTOR_MS,
        async send() {
          const findings = await machine.examine()
          const back = html`<p class="pages"><a href="${sectionAddress(PATH)}">Sources and health</a></p>`
          return {
            page: {
              title: "Installation",
              at: "/settings",
              body: card("Findings", html`${findingTable(findings)}${back}`),
            },
          }
        },
      },
    },
  }
}

const CHECKED = "Checks the settings, the data folder, the database and the secrets, as appmeter doctor does."

export function findingTable(findings: readonly MachineFinding[]): Html {
  const rows = findings.map(({ thing, state, says, fix }) => [
    thing,
    stateTag(state, state === "ok"),
    html`<bdi>${says}</bdi>${fix && html`<p class="small">To fix it, ${fix}.</p>`}`,
  ])
  return namedTable("Findings", ["Check", "State", "Result"], rows)
}
