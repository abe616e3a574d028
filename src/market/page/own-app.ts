import { type Desk, type Side, sidesOf } from "../../ui/app/desk.ts"

interface Subject {
  id: string
  name: string
  storeId: string
  side: Side
}

/** Returns the workspace's app that moves most, as an example to start from. Null without apps. */
export async function readSubject(desk: Desk): Promise<Subject | null> {
  const { apps } = await desk.ask("get_overview", { order: "movement" })
  const [app] = apps
  const side = app && sidesOf(app)[0]
  const storeId = side?.platform === "android" ? app?.androidPkg : app?.iosId
  if (!app || !side || !storeId) return null
  return { id: app.id, name: app.name, storeId, side }
}
