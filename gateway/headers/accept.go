package headers

import (
	"net/http"
	"strconv"
	"strings"
)

// PrefersLines reports whether a client prefers JSON lines (application/x-ndjson) to JSON (RFC 9110, section 12.5.1).
// It must name that type: wildcards stand for JSON, because clients that know nothing of lines send them. If both
// types have the same weight, the one that is named is preferred, and JSON if both are.
func PrefersLines(h http.Header) bool {
	weights := map[string]float64{}
	for _, accepted := range strings.Split(strings.Join(h.Values("Accept"), ","), ",") {
		kind, params, _ := strings.Cut(accepted, ";")
		weights[strings.ToLower(strings.TrimSpace(kind))] = ParseWeight(params)
	}
	asLines := weights["application/x-ndjson"]
	if asJSON, named := weights["application/json"]; named {
		return asLines > asJSON
	}
	asJSON, ranged := weights["application/*"]
	if !ranged {
		asJSON = weights["*/*"]
	}
	return asLines > 0 && asLines >= asJSON
}

// ParseWeight returns the weight among the parameters of a media type or a coding: 1 if there is none, and 0 for a
// malformed one.
func ParseWeight(params string) float64 {
	for _, param := range strings.Split(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(weight >= 0 && weight <= 1) {
			return 0
		}
		return weight
	}
	return 1
}
