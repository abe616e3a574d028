import type { Deployment } from "./deployment.ts"

/** Returns a unit whose server can write only to its own folder. */
export function systemdUnit({ secrets }: Deployment): string {
  return `# /etc/systemd/system/appmeter.service: binary /usr/local/bin/appmeter, settings /etc/appmeter/settings.
# The first start prints its keys into the journal: journalctl -u appmeter -o cat
# Commands work while it runs, as root: DATA_DIR=/var/lib/appmeter appmeter key create
[Unit]
Description=Appmeter
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=/usr/local/bin/appmeter serve
# NAME=value on each line, without secrets; the file may be missing
EnvironmentFile=-/etc/appmeter/settings
DynamicUser=yes
StateDirectory=appmeter
StateDirectoryMode=0700
Environment=DATA_DIR=%S/appmeter
${credentials(secrets)}
# 78 is an invalid setting and 2 wrong usage: starting again would not help
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 78
# a stop answers the open calls and ends within 25 s
KillSignal=SIGTERM
KillMode=mixed
TimeoutStopSec=30
# the first start creates a database
TimeoutStartSec=90
LimitNOFILE=65536
UMask=0077

${HARDENED}

[Install]
WantedBy=multi-user.target
`
}

const HARDENED = `# MemoryDenyWriteExecute must stay off: JavaScript is compiled while it runs.
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateMounts=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM`

/** Returns the unit's lines that load secrets. systemd reads the files as root and shows them to this service alone. */
function credentials(secrets: readonly string[]): string {
  if (secrets.length === 0)
    return "# secrets: appmeter packaging systemd --secret DATABASE_URL (or another) reads them from /etc/appmeter"
  const lines = secrets.flatMap((name) => [
    `LoadCredential=${name}:/etc/appmeter/${name}`,
    `Environment=${name}_FILE=%d/${name}`,
  ])
  return ["# each file belongs to root, has mode 0600 and contains only the value", ...lines].join("\n")
}
