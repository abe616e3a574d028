import {
  accountAdd,
  accountKeygen,
  accountList,
  accountMap,
  accountPause,
  accountRemove,
  accountRotate,
  accountTest,
} from "./account.ts"
import { accountAnalytics } from "./accounts/account-analytics.ts"
import { accountEvidence } from "./accounts/evidence.ts"
import { accountWrites } from "./accounts/writes.ts"
import { approvalList, approvalRequire, approve } from "./approval.ts"
import { audit } from "./audit.ts"
import { channelList, channelPause, channelRemove, channelResume, channelRotate, channelTest } from "./channel.ts"
import { channelAdds } from "./channel-add.ts"
import { check } from "./check.ts"
import type { Command } from "./cli/command.ts"
import { backup } from "./database/backup.ts"
import { migrateCommand } from "./database/migrate.ts"
import { moveDatabase } from "./database/move-database.ts"
import { restore } from "./database/restore.ts"
import { demoLoad, demoRemove } from "./demo.ts"
import { doctor } from "./doctor.ts"
import { evidence } from "./evidence.ts"
import { feedCreate } from "./feed.ts"
import { importCommand } from "./import.ts"
import { keyCreate, keyLeaked, keyList, keyPause, keyResume, keyRevoke } from "./key.ts"
import { licences } from "./licences.ts"
import { linkList, linkWithdraw } from "./link.ts"
import { mailAddress, mailConfirm, mailDigest, mailList, mailTestCommand } from "./mail.ts"
import { mcp } from "./mcp.ts"
import { openapi } from "./openapi.ts"
import { packaging } from "./packaging.ts"
import {
  personAdd,
  personInvite,
  personList,
  personPassphrase,
  personRemove,
  personRole,
  personSecondFactor,
  personWithdraw,
} from "./person.ts"
import { popularity } from "./popularity.ts"
import { alerts } from "./reading/alerts.ts"
import { call } from "./reading/call.ts"
import { completionOf } from "./reading/completion.ts"
import { ranks } from "./reading/ranks.ts"
import { reviews } from "./reading/reviews.ts"
import { settingsCommand } from "./reading/settings.ts"
import { usage } from "./reading/usage.ts"
import { ready } from "./ready.ts"
import { replay } from "./replay.ts"
import { secretsReseal } from "./secrets.ts"
import { serve } from "./serve.ts"
import { sessionEnd, sessionList } from "./session.ts"
import { signIn } from "./sign-in.ts"
import { sources } from "./sources.ts"
import { sqlGrant, sqlList, sqlRevoke } from "./sql.ts"
import { appAdd, appGoal, appList, appRemove, appRename } from "./tracking/app.ts"
import { countryAdd, countryRemove } from "./tracking/countries.ts"
import { historyImport, historyList, historyRemove } from "./tracking/history.ts"
import { appBury, appTag, keywordsAdd, keywordsList, keywordsRemove } from "./tracking/keywords.ts"
import { appLocalisation } from "./tracking/localisation.ts"
import { version } from "./version.ts"
import { work } from "./work.ts"
import { workspaceCreate, workspaceDelete, workspaceList, workspaceSet } from "./workspace.ts"
import { exportCommand, share } from "./writing/share.ts"
import { write } from "./writing/write.ts"

/** All commands in the order of the help. */
export const COMMANDS: readonly Command[] = [
  serve,
  work,
  ranks,
  alerts,
  reviews,
  usage,
  call,
  write,
  share,
  exportCommand,
  check,
  mcp,
  doctor,
  sources,
  settingsCommand,
  migrateCommand,
  backup,
  restore,
  moveDatabase,
  workspaceCreate,
  workspaceSet,
  workspaceList,
  workspaceDelete,
  sqlGrant,
  sqlList,
  sqlRevoke,
  signIn,
  personList,
  personAdd,
  personInvite,
  personWithdraw,
  personRole,
  personPassphrase,
  personSecondFactor,
  personRemove,
  sessionList,
  sessionEnd,
  keyCreate,
  keyList,
  keyRevoke,
  keyPause,
  keyResume,
  keyLeaked,
  appAdd,
  appList,
  appRename,
  appRemove,
  countryAdd,
  countryRemove,
  keywordsAdd,
  keywordsList,
  keywordsRemove,
  historyImport,
  historyList,
  historyRemove,
  appLocalisation,
  appTag,
  appBury,
  appGoal,
  ...channelAdds,
  channelList,
  channelPause,
  channelTest,
  channelRotate,
  channelRemove,
  channelResume,
  accountKeygen,
  ...accountAdd,
  accountList,
  accountTest,
  accountRotate,
  accountMap,
  accountAnalytics,
  accountEvidence,
  accountPause,
  accountWrites,
  accountRemove,
  secretsReseal,
  mailList,
  mailAddress,
  mailConfirm,
  mailDigest,
  mailTestCommand,
  feedCreate,
  linkList,
  linkWithdraw,
  approve,
  approvalList,
  approvalRequire,
  audit,
  importCommand,
  popularity,
  replay,
  evidence,
  demoLoad,
  demoRemove,
  openapi,
  ready,
  packaging,
  version,
  licences,
  completionOf(() => COMMANDS),
]
