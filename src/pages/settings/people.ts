import {
  checkGiven,
  createInvitation,
  type Invitation,
  invitationLinkOf,
  listInvitations,
  withdrawInvitation,
} from "../../access/people/invitations.ts"
import { changeRights, listMembers, type Member, removeMember } from "../../access/people/people.ts"
import { isRole, ROLES, type Role, scopesOf } from "../../access/people/roles.ts"
import { AccessProblem } from "../../access/problem.ts"
import type { Sql } from "../../database/types.ts"
import { card } from "../../ui/app/parts.ts"
import {
  confirmPage,
  formCard,
  listItem,
  radioFields,
  type SettingsSection,
  type SettingsVisit,
  secretPage,
  sectionAddress,
  settingsForm,
  stateTag,
} from "../../ui/app/settings.ts"
import { checkFields, FormProblem, type FormState, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"

const PATH = "people"
const back = sectionAddress(PATH)

const ROLE_MEANINGS: Record<Role, string> = {
  owner: "Everything, and manages people, keys, channels and connected accounts.",
  editor: "Reads everything; changes tracking, alert rules, links, listing texts and replies to reviews.",
  viewer: "Reads everything.",
  "viewer-without-money": "Reads everything except revenue and ads.",
}

const ROLE_NAMES: Record<string, string> = {
  owner: "Owner",
  editor: "Editor",
  viewer: "Viewer",
  "viewer-without-money": "Viewer without money",
  custom: "Custom rights",
}

interface ListedApp {
  id: string
  name: string
}

/** The people of a workspace: what `appmeter person` does in the terminal. */
export function peopleSection(sql: Sql): SettingsSection {
  const find = async ({ workspaceId }: SettingsVisit, fields: URLSearchParams): Promise<Member> => {
    const members = await listMembers(sql, workspaceId)
    const member = members.find(({ personId }) => String(personId) === fields.get("id"))
    if (!member) throw new AccessProblem("this person is not a member of the workspace")
    return member
  }
  return {
    name: "People",
    about: "Invite people and choose what they may do.",
    path: PATH,
    needs: "workspace:manage",
    notices: {
      changed: "The rights are changed. They apply within a second, also to the person's assistants and keys.",
      removed: "The person is removed. Their sessions, assistants and keys have ended.",
      withdrawn: "The invitation is withdrawn.",
    },
    async show(visit) {
      const { workspaceId, context } = visit
      const { apps } = await context.ask("list_app_heads")
      const members = await listMembers(sql, workspaceId)
      const invitations = await listInvitations(sql, workspaceId)
      return html`${card(
        "People",
        html`<ul class="list">${members.map((member) => memberItem(visit, member, apps))}</ul>`,
        counted(members.length, "person", "people"),
      )}
${
  invitations.length > 0 &&
  card("Open invitations", html`<ul class="list">${invitations.map((open) => invitationItem(visit, open))}</ul>`)
}
${formCard("Invite a person", inviteForm(visit, apps))}`
    },
    forms: {
      invite: {
        audit: "person invite",
        async send({ workspaceId, person, publicUrl }, fields) {
          const rights = rightsIn(fields)
          checkGiven(person, rights)
          const name = fields.get("name") ?? ""
          const secret = await createInvitation(sql, { ...rights, workspaceId, name, invitedBy: person.personId })
          const body = html`Send it to <bdi>${name}</bdi>. It works once, within seven days.`
          const link = invitationLinkOf(publicUrl, secret)
          return { page: secretPage("Invitation created", { secret: link, label: "Link", body, back }) }
        },
      },
      withdraw: {
        audit: "person withdraw",
        async send({ workspaceId }, fields) {
          const isWithdrawn = await withdrawInvitation(sql, workspaceId, Number(fields.get("id")))
          if (!isWithdrawn) throw new AccessProblem("this invitation was used or withdrawn already")
          return { to: back, done: "withdrawn" }
        },
      },
      role: {
        audit: "person role",
        async send(visit, fields) {
          const { personId } = await find(visit, fields)
          const rights = rightsIn(fields)
          checkGiven(visit.person, rights)
          await sql.begin((tx) => changeRights(tx, visit.workspaceId, personId, rights))
          return { to: back, done: "changed" }
        },
      },
      remove: {
        audit: null,
        async send(visit, fields) {
          const { name, personId } = await find(visit, fields)
          const page = confirmPage(visit, {
            title: `Remove ${name}?`,
            body: html`<bdi>${name}</bdi> loses access to <bdi>${visit.workspace}</bdi> within a second.`,
            notes: ["Their sessions, assistants, keys and invitations end. The change log keeps the name."],
            cancel: back,
            form: "removed",
            of: String(personId),
            button: "Remove person",
          })
          return { page }
        },
      },
      removed: {
        audit: "person remove",
        async send(visit, fields) {
          const { personId } = await find(visit, fields)
          await sql.begin((tx) => removeMember(tx, visit.workspaceId, personId))
          return { to: back, done: "removed" }
        },
      },
    },
  }
}

function memberItem(visit: SettingsVisit, member: Member, apps: readonly ListedApp[]): Html {
  const { personId, name, role, appList, isOperator, hasSecondFactor, usedAt, createdAt } = member
  const isSelf = personId === visit.person.personId
  const of = String(personId)
  const title = html`<strong><bdi>${name}</bdi></strong> ${stateTag(ROLE_NAMES[role] ?? role, true)}${
    isOperator && html` <span class="tag">operator</span>`
  }${hasSecondFactor && html` <span class="tag">second factor</span>`}${isSelf && html` <span class="tag">you</span>`}`
  const details = html`${appList === null ? "every app" : counted(appList.length, "app")} · member since ${dayTime(
    createdAt.toISOString().slice(0, 10),
  )} · ${usedAt === null ? "not signed in" : html`last visit ${momentTime(usedAt.toISOString())}`}`
  const change = html`<details><summary>Change rights</summary>${settingsForm(
    visit,
    { form: "role", of, button: "Save rights" },
    (form) => rightsFields(form, apps, { role: isRole(role) ? role : "viewer", appList }),
  )}</details>`
  const remove = settingsForm(visit, { form: "remove", of, button: "Remove…", tone: "quiet" })
  return listItem(title, details, html`${change}${remove}`)
}

function invitationItem(visit: SettingsVisit, { id, name, role, invitedBy, expiresAt }: Invitation): Html {
  const title = html`<strong><bdi>${name}</bdi></strong> ${stateTag(ROLE_NAMES[role] ?? role, true)}`
  const details = html`by ${invitedBy ?? "the command line"} · until ${momentTime(expiresAt.toISOString())}`
  return listItem(
    title,
    details,
    settingsForm(visit, { form: "withdraw", of: String(id), button: "Withdraw", tone: "quiet" }),
  )
}

function inviteForm(visit: SettingsVisit, apps: readonly ListedApp[]): Html {
  return settingsForm(visit, { form: "invite", button: "Create invitation link", tone: "main" }, (form) => {
    const name = {
      name: "name",
      label: "Name",
      hint: "The person may choose another.",
      maxLength: 100,
      isRequired: true,
    }
    return html`${textField(form, name)}${rightsFields(form, apps, { role: "viewer", appList: null })}`
  })
}

function rightsFields(
  form: FormState,
  apps: readonly ListedApp[],
  { role, appList }: { role: Role; appList: readonly string[] | null },
): Html {
  const options = ROLES.map((option) => [option, html`${ROLE_NAMES[option]}. ${ROLE_MEANINGS[option]}`] as const)
  const appFields = {
    name: "appList",
    label: "Limit to apps",
    hint: "Tick none for every app, including apps added later.",
    options: apps.map(({ id, name }) => [id, html`<bdi>${name}</bdi>`] as const),
    chosen: appList ?? [],
  }
  return html`${radioFields(form, { name: "role", label: "Role", options, value: role })}
${apps.length > 0 && checkFields(form, appFields)}`
}

function rightsIn(fields: URLSearchParams) {
  const role = fields.get("role") ?? ""
  if (!isRole(role)) throw new FormProblem({ role: "Choose a role." })
  const appList = fields.getAll("appList")
  return { scopes: scopesOf(role), appList: appList.length > 0 ? appList : null }
}
