import { groupAlerts } from "../../lib/alert-groups.ts"
import { alertRow, textOf } from "../alert.ts"
import type { Head } from "./channel-leases.ts"
import type { Message } from "./message.ts"
import { withoutLinks } from "./without-links.ts"

/**
 * Returns the deliveries of the event that `head` belongs to: a fall and the rivals that passed the app, or all changes
 * of a rival.
 */
export function eventWith(head: Head, due: readonly Head[]): Head[] {
  const rows = due.map((delivery) => ({ ...rowOf(delivery), delivery }))
  const group = groupAlerts(rows).find((event) => event.rows.some(({ delivery }) => delivery.id === head.id))
  return group?.rows.map(({ delivery }) => delivery) ?? [head]
}

/** Returns a message with the payload of the head. Its text covers the whole event. */
export function messageOf(head: Head, event: readonly Head[], today: string): Message {
  const data = rowOf(head)
  const text = withoutLinks(eventText(head, event, today))
  return { id: head.id, type: `alert.${data.type}`, at: data.at, data, text }
}

function eventText({ alert }: Head, event: readonly Head[], today: string): string {
  const [group] = groupAlerts(event.map(rowOf))
  if (!group || group.rows.length === 1) return `${alert.appName ?? alert.appId}: ${textOf(alert, today)}`
  return `${group.apps.join(", ")}: ${alert.day === today ? "" : `${alert.day}: `}${group.line}`
}

function rowOf({ alert: { appName, ...alert } }: Head) {
  return alertRow(alert, appName ?? alert.appId)
}

/** Returns the message that tests a channel. It is not stored. */
export function testMessage(id: string, at: Date): Message {
  const sentence = "This is a test message: alerts from Appmeter arrive here."
  return { id, type: "channel.test", at: at.toISOString(), data: { sentence }, text: sentence }
}
