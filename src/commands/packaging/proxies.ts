import { type Deployment, SAMPLE_NAME } from "./deployment.ts"

function header({ name = SAMPLE_NAME, upstreams }: Deployment): string {
  return `# Settings of ${upstreams.length > 1 ? "each Appmeter process" : "Appmeter"} behind this proxy:
#   PUBLIC_URL=https://${name}
#   TRUSTED_PROXIES=127.0.0.1      the address of this proxy: X-Forwarded-For is trusted only from it
#   DRAIN_MS=5000                  /readyz answers 503 this long before the port closes
# Assistants request /mcp (without a trailing slash), /.well-known/oauth-protected-resource/mcp and
# /.well-known/oauth-authorization-server, and sign in below /oauth/ and at /sign-in. All of these are passed on. A bot
# check in front of them keeps assistants out; appmeter doctor reports that.
`
}

const RESTART = `# To restart several processes without losing a call, restart one at a time and wait for its /readyz.
`

const SENT_ONCE = "a call may have been charged once it was sent, so only failed connections are retried"

/** Returns the Caddyfile. Caddy sets X-Forwarded-For itself. */
export function caddyFile(deployment: Deployment): string {
  const { name = SAMPLE_NAME, upstreams } = deployment
  const checks = `
		# a process that drains or cannot reach its database gets no calls
		lb_policy least_conn
		health_uri /readyz
		health_interval 1s
		health_timeout 2s`
  return `${header(deployment)}${upstreams.length > 1 ? RESTART : ""}${name} {
	# a call takes 64 KB at most
	request_body {
		max_size 1MB
	}
	# scrape the metrics at METRICS_PORT, not from outside
	respond /metrics 404
	# no "encode": Appmeter compresses its answers (zstd, br, gzip), and its ETags depend on that
	reverse_proxy ${upstreams.join(" ")} {${upstreams.length > 1 ? checks : ""}
		# ${SENT_ONCE}:
		# a method that no call has switches the retries of GET off
		lb_try_duration 5s
		lb_try_interval 100ms
		lb_retry_match {
			method NONE
		}
		# /mcp refuses a Host other than that of PUBLIC_URL; X-Forwarded-For of the client is dropped unless
		# trusted_proxies allows it
		header_up Host {host}
		transport http {
			# Go repeats a GET whose kept connection closes, so no connection is kept
			keepalive off
			dial_timeout 2s
			# a call is answered within 25 s
			response_header_timeout 35s
		}
	}
}
`
}

/** Returns the HAProxy configuration, which expects certificate and key in one file. */
export function haproxyFile(deployment: Deployment): string {
  const { name = SAMPLE_NAME, upstreams } = deployment
  const checks = `
	# a process that drains or cannot reach its database gets no calls
	option httpchk
	http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host ${name}
	http-check expect status 200
	timeout check 2s
	default-server check inter 1s fall 1 rise 1`
  const servers = upstreams.map((upstream, index) => `	server appmeter${index + 1} ${upstream}`)
  return `${header(deployment)}${upstreams.length > 1 ? RESTART : ""}defaults
	mode http
	timeout connect 2s
	timeout client 30s
	timeout http-request 30s
	# a call is answered within 25 s
	timeout server 35s

frontend appmeter
	# certificate chain and key in one file; certificates are the operator's
	bind :443 ssl crt /etc/ssl/${name}/haproxy.pem alpn h2,http/1.1
	# bodies are read before they are passed on, so slow ones wait here; a call takes 64 KB at most
	option http-buffer-request
	http-request deny deny_status 413 if { req.body_size gt 1048576 }
	# scrape the metrics at METRICS_PORT, not from outside
	http-request return status 404 if { path /metrics }
	# replaces what the client claims
	http-request set-header X-Forwarded-For %[src]
	default_backend appmeter

backend appmeter
	balance leastconn
	# ${SENT_ONCE}.
	# If a process dies during a call, a kept HTTP/1.1 connection closes without an answer (HTTP/2 gets 502), and the
	# client decides whether it repeats the call.
	retries 3
	retry-on conn-failure
	option redispatch 1
	option http-server-close${upstreams.length > 1 ? checks : ""}
${servers.join("\n")}
`
}

const NGINX_RESTART = `# Open-source nginx has no active health checks: it does not read /readyz, and learns from
# failed calls that a process has stopped. It also cannot retry failed connections alone. So a restart loses calls,
# unless you first mark the server line of the process "down", reload nginx (nginx -s reload), restart the process, and
# unmark and reload again.
# appmeter packaging caddy and appmeter packaging haproxy print files that need no such steps.
`

/** Returns a server block for nginx. The operator provides the certificates. */
export function nginxFile(deployment: Deployment): string {
  const { name = SAMPLE_NAME, upstreams } = deployment
  // with nginx's default of 10 s, nginx would consider every process unavailable after restarts in short succession
  const patience = upstreams.length > 1 ? " max_fails=1 fail_timeout=1s" : ""
  const servers = upstreams.map((upstream) => `	server ${upstream}${patience};`)
  return `${header(deployment)}${upstreams.length > 1 ? NGINX_RESTART : ""}upstream appmeter {
${upstreams.length > 1 ? "	least_conn;\n" : ""}${servers.join("\n")}
	keepalive 32;
	# below the 30 s after which Appmeter closes an idle connection
	keepalive_timeout 20s;
}

server {
	listen 443 ssl;
	server_name ${name};
	ssl_certificate /etc/ssl/${name}/fullchain.pem;
	ssl_certificate_key /etc/ssl/${name}/privkey.pem;

	# a call takes 64 KB at most; bodies are read whole before they are passed on, so slow ones wait here
	client_max_body_size 1m;
	client_body_timeout 30s;

	# scrape the metrics at METRICS_PORT, not from outside
	location = /metrics {
		return 404;
	}

	# Appmeter compresses its answers (zstd, br, gzip); they are passed on unchanged
	gzip off;

	location / {
		proxy_pass http://appmeter;
		proxy_http_version 1.1;
		proxy_set_header Connection "";
		# /mcp refuses a Host other than that of PUBLIC_URL
		proxy_set_header Host $http_host;
		# replaces what the client claims; behind a further proxy use $proxy_add_x_forwarded_for and add that proxy to
		# TRUSTED_PROXIES
		proxy_set_header X-Forwarded-For $remote_addr;
		proxy_connect_timeout 5s;
		# a call is answered within 25 s; it is not sent again, because it may have been charged
		proxy_read_timeout 35s;
		proxy_next_upstream off;
		# answers are whole documents, not streams: kept in memory, never in a file
		proxy_buffers 16 64k;
		proxy_max_temp_file_size 0;
	}
}
`
}
