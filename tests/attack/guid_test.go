package attack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() {
	attack("GUIDs of another tenant", foreignGUIDs)
	attack("guesses of GUIDs", guessedGUIDs)
	attack("candidates of others", hiddenCandidates)
}

// foreignGUIDs shows that every operation of recruiting with an id treats the GUID of another tenant as a missing one,
// and that no list shows it.
func foreignGUIDs(t *testing.T, w *fixture) {
	o, email := w.fillRecruiting(t, "")
	other := w.tenant(t, strings.ToLower(scenario.Unique("guids")))
	routes := routesWithGUID(t)
	for _, route := range routes {
		method, path, ok := o.fill(route)
		if !assert.True(t, ok, "the objects of this test lack one for %s", route) || method != http.MethodGet {
			continue
		}
		got := requireAsked(t, w.admin, method, path, "", nil)
		assert.Equal(t, http.StatusOK, got.status, "its own tenant sees it: %s: %s", route, got.body)
	}
	assert.Equal(t, len(routes), requireUnknown(t, other, o))
	requireUnlisted(t, other, o)
	for _, lookup := range []string{"candidates-lookup", "applications-easy-apply-lookup"} {
		got := requireAsked(t, other, http.MethodPost, recruiting+lookup, "application/json", fmt.Appendf(nil, `{"email": %q}`, email))
		assert.Equal(t, "[]", strings.TrimSpace(string(got.body)), lookup)
	}
}

// guessedGUIDs shows that the GUIDs of objects are random, so that one of them does not lead to others.
func guessedGUIDs(t *testing.T, w *fixture) {
	const tries = 64
	ascents, last := 0, ""
	for i := range tries {
		id := w.post(t, w.admin.Token, "candidates", fmt.Sprintf(`{"name": {"first": "Ada", "last": "Guess"}, "contact_info": {"email": "%s@example.test"}}`, scenario.Unique("guess")))
		guid, err := uuid.Parse(id)
		require.NoError(t, err)
		assert.Equal(t, uuid.Version(4), guid.Version(), id)
		assert.Equal(t, uuid.RFC4122, guid.Variant(), id)
		if id > last {
			ascents++
		}
		assert.False(t, i > 0 && id[:8] == last[:8], "%s follows %s", id, last)
		last = id
		for _, at := range []int{3, 15} {
			near := guid
			near[at]++
			got := requireAsked(t, w.admin, http.MethodGet, recruiting+"candidates/"+near.String(), "", nil)
			assert.Equal(t, http.StatusNotFound, got.status, "%s is near %s", near, id)
		}
	}
	assert.Less(t, ascents, tries-8, "the order of GUIDs shows the order of their creation")
	o, _ := w.fillRecruiting(t, "")
	for list, id := range o {
		guid, err := uuid.Parse(id)
		require.NoError(t, err)
		assert.Equal(t, uuid.Version(4), guid.Version(), "%s: %s", list, id)
	}
}

// hiddenCandidates shows that hiring managers see only their own opportunities with what belongs to them, and recruiters
// only the ones that are shared with them: in lists, look-ups, links, documents and hires.
func hiddenCandidates(t *testing.T, w *fixture) {
	profile := scenario.Unique("Hiring")
	w.create(t, "/v1/auth/access_profiles", `{"name": "`+profile+`", "permissions": ["recruiting.*"], "rowScope": "OWN"}`, nil)
	managerID, manager := w.person(t, profile)
	recruiterID, recruiter := w.person(t, profile)
	managers, _ := w.fillRecruiting(t, fmt.Sprintf(`, "hiring_manager": {"id": %q}`, personGUID(managerID)))
	shared, sharedEmail := w.fillRecruiting(t, "")
	w.create(t, recruiting+"opportunities/"+shared["opportunities"]+"/recruiters", fmt.Sprintf(`{"id": %q}`, personGUID(recruiterID)), nil)
	nobodys, nobodysEmail := w.fillRecruiting(t, "")

	for name, c := range map[string]struct {
		caller scenario.API
		own    objects
		hidden []objects
	}{
		"the hiring manager": {manager, managers, []objects{shared, nobodys}},
		"the recruiter":      {recruiter, shared, []objects{managers, nobodys}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, route := range routesWithGUID(t) {
				if method, path, ok := c.own.fill(route); ok && method == http.MethodGet {
					want := http.StatusOK
					if concernsPersonalData(route) {
						want = http.StatusForbidden
					}
					got := requireAsked(t, c.caller, method, path, "", nil)
					assert.Equal(t, want, got.status, "%s: %s", route, got.body)
				}
			}
			for _, hidden := range c.hidden {
				hidden = hidden.withRows()
				requireUnknown(t, c.caller, hidden)
				requireUnlisted(t, c.caller, hidden)
				for list, body := range map[string]string{
					"applications":                    fmt.Sprintf(`{"candidate": {"id": "{}"}, "opportunity": {"id": %q}, "creation_method": "CandidateImport"}`, c.own["opportunities"]),
					"offers":                          `{"application": {"id": "{}"}}`,
					"background-check-order-requests": `{"application": {"id": "{}"}}`,
				} {
					id := hidden["applications"]
					if list == "applications" {
						id = hidden["candidates"]
					}
					seen := requireAsked(t, c.caller, http.MethodPost, recruiting+list, "application/json", []byte(strings.Replace(body, "{}", id, 1)))
					none := requireAsked(t, c.caller, http.MethodPost, recruiting+list, "application/json", []byte(strings.Replace(body, "{}", missingGUID, 1)))
					assert.Equal(t, http.StatusBadRequest, seen.status, "%s: %s", list, seen.body)
					assert.Equal(t, strings.ReplaceAll(string(none.body), missingGUID, id), string(seen.body), list)
				}
			}
			for _, lookup := range []string{"candidates-lookup", "applications-easy-apply-lookup"} {
				got := requireAsked(t, c.caller, http.MethodPost, recruiting+lookup, "application/json", fmt.Appendf(nil, `{"email": %q}`, nobodysEmail))
				assert.Equal(t, "[]", strings.TrimSpace(string(got.body)), lookup)
			}
		})
	}
	found := requireAsked(t, w.admin, http.MethodPost, recruiting+"candidates-lookup", "application/json", fmt.Appendf(nil, `{"email": %q}`, sharedEmail))
	assert.Contains(t, string(found.body), shared["candidates"], "the administrator sees all rows")
}

// withRows returns the objects whose rows not every caller may see; the configuration is open to all.
func (o objects) withRows() objects {
	out := objects{}
	for list, id := range o {
		switch first, _, _ := strings.Cut(list, "/"); first {
		case "candidates", "applications", "opportunities", "offers":
			out[list] = id
		}
	}
	return out
}
