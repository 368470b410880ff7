package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// A program that reads applications by the links of their pages, and a careers page, work as with the
// reference product.
func TestProgramsReadRecruiting(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	api := scenario.API{Target: server.Target(t)}
	create := func(list string, body scenario.Object) string {
		var made struct{ ID string }
		_, err := api.Call(t.Context(), http.MethodPost, "/v1/"+list, body, &made)
		require.NoError(t, err)
		return made.ID
	}
	_, err := api.Call(t.Context(), http.MethodPost, "/v1/commons/jobs", scenario.Object{"name": "Cook", "code": "COOK"}, nil)
	require.NoError(t, err)
	board := create("recruiting/job-boards", scenario.Object{"name": "Site", "is_external": true})
	opening := func(title string, actions ...string) string {
		id := create("recruiting/opportunities", scenario.Object{
			"title": scenario.Object{"en_us": title}, "job": scenario.Object{"code": "COOK"}, "recruiting_process": scenario.Object{"name": "Standard"},
			"description": scenario.Object{
				"brief":    scenario.Object{"external": scenario.Object{"en_us": "Salt & pepper"}},
				"detailed": scenario.Object{"external": scenario.Object{"en_us": "Cook for many"}},
			},
			"job_boards": []scenario.Object{{"id": board}},
		})
		for _, action := range actions {
			create("recruiting/opportunities/"+id+"/"+action, scenario.Object{})
		}
		return id
	}
	first, second := opening("Cook", "publish"), opening("Baker <night>", "publish")
	opening("Draft")
	opening("Closed", "publish", "close")
	for i := range 7 {
		candidate := create("recruiting/candidates", scenario.Object{
			"name": scenario.Object{"first": "Ada", "last": fmt.Sprint("Number ", i)}, "contact_info": scenario.Object{"email": fmt.Sprintf("ada%d@example.test", i)},
		})
		for _, opportunity := range []string{first, second}[:1+i%2] {
			create("recruiting/applications", scenario.Object{"candidate": scenario.Object{"id": candidate}, "opportunity": scenario.Object{"id": opportunity}})
		}
	}

	var seen struct {
		Applicants []struct {
			Name, Email string
			Applied     int
			Recent      bool
		}
		Careers string
	}
	require.NoError(t, json.Unmarshal([]byte(run(t, nil, "python3", "testdata/recruiting.py", server.BaseURL, server.CAFile, api.Target.Token)), &seen))
	rows := map[string]int{}
	for _, applicant := range seen.Applicants {
		rows[applicant.Email+" "+applicant.Name]++
		assert.True(t, applicant.Recent)
	}
	want := map[string]int{}
	for i := range 7 {
		want[fmt.Sprintf("ada%d@example.test Ada Number %d", i, i)] = 1 + i%2
	}
	assert.Equal(t, want, rows)
	assert.Equal(t, "<h2>Cook</h2><p>Salt &amp; pepper</p><p>Cook for many</p><h2>Baker &lt;night&gt;</h2><p>Salt &amp; pepper</p><p>Cook for many</p>", seen.Careers)
}
