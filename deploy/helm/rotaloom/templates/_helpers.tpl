{{/*
What the programs are to each other. A newcomer reads here who calls whom; Services,
certificates, access lists and NetworkPolicies follow from it.
  calls     services that the program calls
  callers   services that call it for themselves, not for a user
  edge      it knows who the edge is
  database  the database that it uses
  nats      it uses the broker
  streams   it keeps streams there
*/}}
{{- define "rotaloom.programs" -}}
auth: {database: auth, nats: true, serves: true, edge: true, calls: [], callers: [commons, timekeeping, scheduling, recruiting, platform]}
commons: {streams: true, database: commons, nats: true, serves: true, edge: false, calls: [auth], callers: [timekeeping, scheduling, recruiting, platform]}
timekeeping: {streams: true, database: timekeeping, nats: true, serves: true, edge: false, calls: [auth, commons, scheduling], callers: [platform]}
scheduling: {streams: true, database: scheduling, nats: true, serves: true, edge: false, calls: [auth, commons], callers: [timekeeping, platform]}
recruiting: {database: recruiting, nats: true, serves: true, edge: false, calls: [auth, commons], callers: [platform]}
platform: {database: platform, nats: true, serves: true, edge: true, calls: [auth, commons, timekeeping, scheduling, recruiting], callers: []}
propagator: {streams: true, database: scheduling, nats: true, serves: false, edge: false, calls: [], callers: []}
gateway: {database: "", nats: false, serves: true, edge: false, calls: [auth, commons, timekeeping, scheduling, recruiting, platform], callers: []}
{{- end -}}

{{- define "rotaloom.fullname" -}}
{{- if contains "rotaloom" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-rotaloom" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end -}}

{{- define "rotaloom.labels" -}}
{{ include "rotaloom.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: rotaloom
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "rotaloom.selector" -}}
app.kubernetes.io/name: rotaloom
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The image of a program: (list . "gateway"). */}}
{{- define "rotaloom.image" -}}
{{- $root := index . 0 -}}
{{ $root.Values.image.repository }}/{{ index . 1 }}:{{ $root.Values.image.tag | default $root.Chart.AppVersion }}
{{- end -}}

{{/* What the Pod Security Standard "restricted" asks of a pod, and of a container. */}}
{{- define "rotaloom.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}
{{- define "rotaloom.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Names of Secrets, which the chart makes or is given. */}}
{{- define "rotaloom.secret.keyEncryption" -}}{{ .Values.auth.keyEncryption.secretName | default (printf "%s-key-encryption" (include "rotaloom.fullname" .)) }}{{- end -}}
{{- define "rotaloom.secret.administrator" -}}{{ .Values.auth.administrator.secretName | default (printf "%s-administrator" (include "rotaloom.fullname" .)) }}{{- end -}}
{{- define "rotaloom.secret.database" -}}{{ .Values.database.secretName | default (printf "%s-database" (include "rotaloom.fullname" .)) }}{{- end -}}
{{- define "rotaloom.secret.nats" -}}{{ .Values.nats.secretName | default (printf "%s-nats-urls" (include "rotaloom.fullname" .)) }}{{- end -}}
{{- define "rotaloom.secret.https" -}}{{ .Values.gateway.https.secretName | default (printf "%s-https" (include "rotaloom.fullname" .)) }}{{- end -}}

{{/* The settings of a program as variables: (list . "gateway"). Its own win over those of all. */}}
{{- define "rotaloom.settings" -}}
{{- $root := index . 0 -}}
{{- $own := index $root.Values (index . 1) -}}
{{- $all := merge (dict) ($own.settings | default dict) $root.Values.settings -}}
{{- range $name := keys $all | sortAlpha }}
- {name: ROTALOOM_{{ $name }}, value: {{ index $all $name | toString | quote }}}
{{- end }}
{{- end -}}

{{/* Something when a pooler stands before the databases. */}}
{{- define "rotaloom.database.pooled" -}}
{{- if and (eq .Values.database.mode "secret") .Values.database.directPort }}pooled{{- end }}
{{- end -}}

{{/* Variables and volumes of the database: (list . "commons" database). */}}
{{- define "rotaloom.database.env" -}}
{{- $root := index . 0 -}}{{- $database := index . 1 -}}
{{- if eq $root.Values.database.mode "cloudNativePG" }}
{{- $cluster := printf "%s-database" (include "rotaloom.fullname" $root) }}
- {name: DATABASE_USER, valueFrom: {secretKeyRef: {name: {{ $cluster }}-app, key: username}}}
- {name: DATABASE_PASSWORD, valueFrom: {secretKeyRef: {name: {{ $cluster }}-app, key: password}}}
- name: ROTALOOM_DATABASE_URL
  value: postgres://$(DATABASE_USER):$(DATABASE_PASSWORD)@{{ $cluster }}-rw:5432/{{ $database }}?sslmode=verify-full&sslrootcert=/etc/rotaloom/database/ca.crt
{{- else }}
- {name: ROTALOOM_DATABASE_URL_FILE, value: /etc/rotaloom/database/url}
{{- if include "rotaloom.database.pooled" $root }}
- {name: ROTALOOM_DATABASE_DIRECT_URL_FILE, value: /etc/rotaloom/database/direct-url}
{{- end }}
{{- end }}
{{- end -}}
{{- define "rotaloom.database.volume" -}}
{{- $root := index . 0 -}}{{- $database := index . 1 -}}
- name: database
{{- if eq $root.Values.database.mode "cloudNativePG" }}
  secret:
    secretName: {{ include "rotaloom.fullname" $root }}-database-ca
    items: [{key: ca.crt, path: ca.crt}]
{{- else }}
  projected:
    sources:
      - secret: {name: {{ include "rotaloom.secret.database" $root }}, items: [{key: {{ $database }}, path: url}{{ if include "rotaloom.database.pooled" $root }}, {key: {{ $database }}-direct, path: direct-url}{{ end }}]}
      {{- if eq $root.Values.database.mode "bundled" }}
      - secret: {name: {{ include "rotaloom.fullname" $root }}-database-tls, items: [{key: ca.crt, path: ca.crt}]}
      {{- else }}
      # Only where the authority is not one of the web.
      - secret: {name: {{ include "rotaloom.secret.database" $root }}, optional: true, items: [{key: ca.crt, path: ca.crt}]}
      {{- end }}
{{- end }}
{{- end -}}

{{/* Pods of the release by their components: (list . (list "auth")). */}}
{{- define "rotaloom.peers" -}}
- podSelector:
    matchLabels:{{ include "rotaloom.selector" (index . 0) | nindent 6 }}
    matchExpressions: [{key: app.kubernetes.io/component, operator: In, values: [{{ join ", " (index . 1) }}]}]
{{- end -}}
