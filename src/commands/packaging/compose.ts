import { versionOf } from "../../database/assets.ts"
import type { Deployment } from "./deployment.ts"

/** Returns the compose file for one machine: PostgreSQL, Redis, a server, and a process that reads the stores. */
export function composeFile({ secrets, name, image = `appmeter:${versionOf()}` }: Deployment): string {
  const more = secrets.filter((secret) => secret !== "DATABASE_URL")
  const secretFiles = more.map((secret) => `\n#   …                        > secrets/${secret}`).join("")
  const secretVariables = more.map((secret) => `\n      ${secret}_FILE: /run/secrets/${secret}`).join("")
  const address = name === undefined ? "" : `\n      PUBLIC_URL: https://${name}`
  return `# Image: ${image}; appmeter packaging container prints how to build it.
#   install -d -m 0700 secrets
#   openssl rand -hex 24 > secrets/postgres_password
#   printf 'postgres://appmeter:%s@postgres:5432/appmeter' "$(cat secrets/postgres_password)" \\
#     > secrets/DATABASE_URL${secretFiles}
#   docker compose up -d         (podman compose likewise)
#   docker compose logs server   shows the keys of the first start
services:
  postgres:
    image: postgres:18
    environment:
      POSTGRES_USER: appmeter
      POSTGRES_DB: appmeter
      POSTGRES_PASSWORD_FILE: /run/secrets/postgres_password
    secrets: [postgres_password]
    volumes: [postgres:/var/lib/postgresql]
    healthcheck:
      test: [CMD, pg_isready, -U, appmeter]
      interval: 5s
      retries: 20
    restart: unless-stopped
  redis:
    image: redis:8
    # only counts calls per second and day, which need not survive a restart
    command: [redis-server, --save, "", --appendonly, "no"]
    restart: unless-stopped
  server: &appmeter
    image: ${image}
    environment:
      DATABASE_URL_FILE: /run/secrets/DATABASE_URL
      REDIS_URL: redis://redis:6379
      HOST: 0.0.0.0
      MEASURE: "no"
      METRICS_PORT: "9187"${secretVariables}${address}
    secrets: [${["DATABASE_URL", ...more].join(", ")}]
    ports: ["127.0.0.1:8787:8787"]
    depends_on:
      postgres: { condition: service_healthy }
    read_only: true
    tmpfs: [/tmp]
    volumes: [appmeter:/var/lib/appmeter]
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    stop_grace_period: 30s
    restart: unless-stopped
  work:
    <<: *appmeter
    command: [work]
    ports: []
    healthcheck: { disable: true }
    depends_on:
      server: { condition: service_healthy }
volumes:
  postgres: {}
  appmeter: {}
secrets:
  postgres_password: { file: secrets/postgres_password }
${["DATABASE_URL", ...more].map((secret) => `  ${secret}: { file: secrets/${secret} }\n`).join("")}`
}
