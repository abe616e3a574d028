/** Groups of settings in display order. Each setting is in exactly one, by its name or the beginning of its name. */
export const SETTING_GROUPS: readonly { title: string; names: RegExp }[] = [
  { title: "Address", names: /^(HOST|PORT|PUBLIC_URL|TRUSTED_PROXIES|CORS_ORIGINS|DRAIN_MS)$/ },
  { title: "Database and backups", names: /^(DATA_DIR|DATABASE_\w+|BACKUP_DIR)$/ },
  { title: "Secrets", names: /^SECRET_KEY/ },
  { title: "First workspace", names: /^FIRST_WORKSPACE_/ },
  { title: "Sign-in", names: /^(SESSION_DAYS|AUTH_PROXY_HEADER|OIDC_\w+)$/ },
  { title: "Limits of calls", names: /^(SANDBOX_PER_SECOND|REQUEST_DEADLINE_MS|MAX_WAITING)$/ },
  { title: "Redis for several processes", names: /^(REDIS|UPSTASH)_/ },
  { title: "Reading the stores", names: /^(MEASURE|MARKET|EGRESS|SOURCES_OFF|UPSTREAM_)/ },
  { title: "Alerts", names: /^(DELIVER|TELEGRAM_API|ALLOW_PRIVATE_TARGETS)$/ },
  { title: "Mail", names: /^(SMTP_\w+|MAIL_FROM)$/ },
  { title: "Retention", names: /^(RAW|KEEP)_/ },
  { title: "Logs and metrics", names: /^(LOG|METRICS)_/ },
  {
    title: "Texts and screenshots",
    names: /^(AI_(URL|API|MODEL|KEY|CONTEXT_TOKENS|TOKENS_A_DAY|AT_ONCE|PRICE)|OCR_DATA|PICTURES_MB)$/,
  },
  { title: "AI visibility", names: /^AI_(ENGINE|KEY_|CHECK)/ },
  { title: "Commands that call a server", names: /^APPMETER_/ },
]
