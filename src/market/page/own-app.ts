import { type PageContext, type Side, sidesOf } from "../../ui/app/context.ts"

interface Subject {
  id: string
  name: string
  storeId: string
  side: Side
}

/** Returns the workspace's app whose ranks changed most, as an example to start from. Null without apps. */
export async function readSubject(context: PageContext): Promise<Subject | null> {
  const { apps } = await context.ask("get_overview", { order: "movement" })
  const [app] = apps
  const side = app && sidesOf(app)[0]
  const storeId = side?.platform === "android" ? app?.androidPkg : app?.iosId
  if (!app || !side || !storeId) return null
  return { id: app.id, name: app.name, storeId, side }
}
