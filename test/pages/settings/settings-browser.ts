import { type Browser, fieldIn, type Page } from "../../access/sign-in/browser.ts"

type Fields = Readonly<Record<string, string | readonly string[]>>

/** A page that always has a form. */
const WITH_FORM = "/app/settings/keys"

/** Sends the forms of a page of the settings, with the token of the session. */
export function settingsBrowser(owner: Browser, path: string) {
  return {
    async send(form: string, fields: Fields, at = path): Promise<Page> {
      const token = fieldIn(await owner.open(WITH_FORM), "form") as string
      const pairs = Object.entries(fields).flatMap(([name, value]) =>
        (typeof value === "string" ? [value] : value).map((item): [string, string] => [name, item]),
      )
      return await owner.send(at, [["form", token], ["do", form], ...pairs])
    },
  }
}
