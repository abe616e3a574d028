import { card } from "../../ui/app/parts.ts"
import { listItem, mayOpen, type SettingsSection, sectionAddress } from "../../ui/app/settings.ts"
import { html } from "../../ui/html.ts"

/** The first page of the settings, which lists the other sections. */
export function workspaceSection(sections: readonly SettingsSection[]): SettingsSection {
  return {
    name: "Workspace",
    about: "The name of the workspace, and what there is to set.",
    path: "",
    needs: null,
    notices: {},
    async show({ workspace, person }) {
      const listed = sections.filter((section) => mayOpen(person, section))
      const entries = listed.map(({ path, name, about }) =>
        listItem(html`<a href="${sectionAddress(path)}"><strong>${name}</strong></a>`, about),
      )
      return card(html`Workspace <bdi>${workspace}</bdi>`, html`<ul class="list">${entries}</ul>`)
    },
    forms: {},
  }
}
