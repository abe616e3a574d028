import { AccessProblem } from "../../access/problem.ts"
import type { AccountKind } from "../account-kind.ts"
import type { PlayKey } from "../credentials.ts"
import { openPlay, type Play } from "../play/client.ts"
import { lookAtPlay } from "../play/look.ts"
import { readPlay } from "../play/read.ts"
import { serviceAccountIn } from "../play/service-account.ts"

export const googlePlayConsole: AccountKind<PlayKey, Play> = {
  name: "google-play-console",
  title: "Google Play Console",
  summary:
    "Connect the developer's console of Google Play with the key of a service account. Shows the rights of the " +
    "key. Invite the account in Play Console first, under Users and permissions.",
  store: "android",
  examples: [
    [
      "account add google-play-console --key-file service-account.json --bucket pubsite_prod_rev_01234567890123456789",
      "shows the rights of the key and the apps that have reports",
    ],
    [
      "account add google-play-console --key-file - --bucket gs://pubsite_prod_rev_… < service-account.json",
      "from stdin",
    ],
  ],
  ids: {},
  secret: {
    name: "serviceAccount",
    option: "key-file",
    value: "FILE",
    meaning: "The JSON key of a service account that is invited in Play Console.",
  },
  part: {
    name: "bucket",
    option: "bucket",
    value: "ID",
    meaning: "The bucket of the reports: in Play Console, Download reports, Copy Cloud Storage URI.",
  },
  toPart: (given) => /^gs:\/\/([^/]+)(\/.*)?$/.exec(given)?.[1] ?? given,
  check({ serviceAccount }, bucket) {
    serviceAccountIn(serviceAccount)
    if (!/^pubsite_prod_(rev_)?\d{5,30}$/.test(bucket ?? ""))
      throw new AccessProblem(
        "a bucket is pubsite_prod_rev_ and a number, with or without gs://; copy it in Play Console under " +
          "Download reports, Copy Cloud Storage URI",
        "part",
      )
  },
  shown({ serviceAccount }) {
    const { email, keyId } = serviceAccountIn(serviceAccount)
    return `key …${keyId.slice(-4)} of ${email}`
  },
  open: (key, _, reach) => openPlay(key, reach),
  look: (play, bucket) => lookAtPlay(play, bucket),
  begins:
    "installs, store visits, ratings, crashes, sales and earnings of the tracked apps, by month, from the newest " +
    "back two years",
  needs: ["statistics"],
  read: readPlay,
}
