package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
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
			id := create("recruiting/applications", scenario.Object{"candidate": scenario.Object{"id": candidate}, "opportunity": scenario.Object{"id": opportunity}})
			for n := range i % 3 {
				upload(t, api, "/v1/recruiting/applications/"+id+"/documents", fmt.Sprintf("cv %d.pdf", n))
			}
		}
	}

	var seen struct {
		Applicants []struct {
			Name, Email string
			Applied     int
			Recent      bool
			// Documents have a type, a name and a size.
			Documents [][]any
		}
		Careers string
	}
	require.NoError(t, json.Unmarshal([]byte(run(t, nil, "python3", "testdata/recruiting.py", server.BaseURL, server.CAFile, api.Target.Token)), &seen))
	rows := map[string]int{}
	for _, applicant := range seen.Applicants {
		rows[applicant.Email+" "+applicant.Name]++
		assert.True(t, applicant.Recent)
		var number int
		_, err := fmt.Sscanf(applicant.Email, "ada%d@", &number)
		require.NoError(t, err)
		documents := make([][]any, number%3)
		for n := range documents {
			documents[n] = []any{"Resume", fmt.Sprintf("cv %d.pdf", n), float64(len(contract.PDF))}
		}
		assert.ElementsMatch(t, documents, applicant.Documents, applicant.Email)
	}
	want := map[string]int{}
	for i := range 7 {
		want[fmt.Sprintf("ada%d@example.test Ada Number %d", i, i)] = 1 + i%2
	}
	assert.Equal(t, want, rows)
	assert.Equal(t, "<h2>Cook</h2><p>Salt &amp; pepper</p><p>Cook for many</p><h2>Baker &lt;night&gt;</h2><p>Salt &amp; pepper</p><p>Cook for many</p>", seen.Careers)
}

// upload adds a PDF with a name to a list of documents.
func upload(t *testing.T, api scenario.API, path, name string) {
	t.Helper()
	contentType, form := contract.Form(map[string]string{"document_type": "Resume"}, name, []byte(contract.PDF))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.BaseURL+path, bytes.NewReader(form))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+api.Token)
	r.Header.Set("Content-Type", contentType)
	response, err := api.Client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, response.StatusCode, "%s", body)
}
