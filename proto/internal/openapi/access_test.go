package openapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Pages do not show x-permission and x-limit, so that the description says both.
func TestDescriptionSaysWhoMayCall(t *testing.T) {
	t.Parallel()
	limited := strings.Replace(openings, `name: "Opening"`, `name: "Opening" options { [rotaloom.options.v1.message] { limits { max: 56000 code: "WFP-1" quantity: "days" by_method: true } } }`, 1)
	for name, one := range map[string]struct{ policy, want string }{
		"a permission": {`permission: "a.b.write"`, "**Access:** the permission a.b.write. At most 56,000 days in a request (413, WFP-1)."},
		"any caller":   {`authenticated: true`, "**Access:** an access token; no permission is needed. At most 56,000 days in a request (413, WFP-1)."},
		"anybody":      {`public: true`, "**Access:** no access token is needed. At most 56,000 days in a request (413, WFP-1)."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := describe(t, strings.Replace(limited, `permission: "a.b.write"`, one.policy, 1), "")
			assert.Equal(t, one.want, at(t, d, "paths", "/v1/openings/{id}", "patch", "description"))
		})
	}
}
