{{/* The variables of a program: (list . name program own). */}}
{{- define "rotaloom.env" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}{{- $program := index . 2 -}}{{- $own := index . 3 -}}
{{- $full := include "rotaloom.fullname" $root -}}
{{- $set := merge (dict) ($own.settings | default dict) $root.Values.settings -}}
- {name: ROTALOOM_ADMIN_ADDRESS, value: ":9090"}
- {name: ROTALOOM_DRAIN_DELAY, value: {{ $own.drainSeconds }}s}
- {name: ROTALOOM_STOP_TIMEOUT, value: {{ $own.stopSeconds }}s}
{{- with $root.Values.tracing }}
{{- if .endpoint }}
- {name: ROTALOOM_TRACING_ENDPOINT, value: {{ .endpoint | quote }}}
- {name: ROTALOOM_TRACING_RATIO, value: {{ .ratio | quote }}}
{{- end }}
{{- end }}
{{- if $program.serves }}
- {name: ROTALOOM_LISTEN, value: ":8443"}
- {name: ROTALOOM_TLS_CERT, value: /etc/rotaloom/tls/tls.crt}
- {name: ROTALOOM_TLS_KEY, value: /etc/rotaloom/tls/tls.key}
- {name: ROTALOOM_TLS_CA, value: /etc/rotaloom/tls/ca.crt}
{{- end }}
{{- range $program.calls }}
- {name: ROTALOOM_{{ upper . }}_TARGET, value: "dns:///{{ $full }}-{{ . }}:8443"}
{{- end }}
{{- if and $program.serves (ne $name "gateway") }}
{{- $callers := list }}{{- $services := list }}
{{- range $program.callers }}
{{- $callers = append $callers (printf "%s-%s" $full .) }}{{- $services = append $services (printf "%s=%s-%s" . $full .) }}
{{- end }}
- {name: ROTALOOM_RPC_CLIENTS, value: "{{ join "," (prepend $callers (printf "%s-gateway" $full)) }}"}
{{- with $services }}
- {name: ROTALOOM_RPC_SERVICES, value: "{{ join "," . }}"}
{{- end }}
{{- if $program.edge }}
- {name: ROTALOOM_RPC_EDGES, value: {{ $full }}-gateway}
{{- end }}
{{- end }}
{{- if $program.database }}
{{- include "rotaloom.database.env" (list $root $program.database) }}
{{- end }}
{{- if $program.nats }}
- {name: ROTALOOM_NATS_URL_FILE, value: /etc/rotaloom/nats/url}
- {name: ROTALOOM_NATS_CA, value: /etc/rotaloom/nats/ca.crt}
{{- if eq $root.Values.nats.mode "bundled" }}
{{- if and (eq $name "auth") (not (hasKey $set "REVOCATION_REPLICAS")) }}
- {name: ROTALOOM_REVOCATION_REPLICAS, value: "{{ $root.Values.nats.bundled.replicas }}"}
{{- else if and $program.streams (not (hasKey $set "STREAM_REPLICAS")) }}
- {name: ROTALOOM_STREAM_REPLICAS, value: "{{ $root.Values.nats.bundled.replicas }}"}
{{- end }}
{{- end }}
{{- end }}
{{- if eq $name "auth" }}
- {name: ROTALOOM_KEY_ENCRYPTION_FILE, value: /etc/rotaloom/key-encryption/key-encryption}
{{- end }}
{{- if and (eq $name "platform") $own.smtp.secretName }}
- {name: ROTALOOM_SMTP_PASSWORD, valueFrom: {secretKeyRef: {name: {{ $own.smtp.secretName }}, key: password}}}
{{- end }}
{{- if eq $name "scheduling" }}
# Its worker runs as processes of its own.
- {name: ROTALOOM_PROPAGATE, value: "false"}
{{- end }}
{{- if eq $name "gateway" }}
- {name: ROTALOOM_HTTPS_TLS_CERT, value: /etc/rotaloom/https/tls.crt}
- {name: ROTALOOM_HTTPS_TLS_KEY, value: /etc/rotaloom/https/tls.key}
- {name: ROTALOOM_THROTTLE_REPLICAS, value: "{{ $own.autoscaling.enabled | ternary $own.autoscaling.maxReplicas $own.replicas }}"}
{{- end }}
{{- include "rotaloom.settings" (list $root $name) }}
{{- end -}}
