package launch

import (
	"net/http"
	"testing"
)

// awaitEdge waits until the edge reaches all services.
func (d *Deployment) awaitEdge(t testing.TB) {
	t.Helper()
	d.Client = Client(t, d.CAFile)
	d.AwaitServices(t)
}

// AwaitServices waits until every service works for callers of the edge, for example after a
// restart of all services.
func (d *Deployment) AwaitServices(t testing.TB) {
	t.Helper()
	Await(t, startTimeout, "the edge lets the administrator in", func() bool {
		return !t.Failed() && LoginWorks(t, d.Client, d.Ready)
	})
	token := Login(t, d.Client, d.Ready).Token
	for _, path := range []string{
		"/v1/commons/persons/1", "/v1/timekeeping/setup/employment_terms/1", "/v1/scheduling/shift_templates/1",
		"/v1/recruiting/applicant-sources", "/v1/platform/rate_limits",
	} {
		Await(t, startTimeout, path+" is served", func() bool { return d.serves(path, token) })
	}
}

// serves reports whether the service behind a path works.
func (d *Deployment) serves(path, token string) bool {
	request, err := http.NewRequest(http.MethodGet, d.BaseURL+path, nil)
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := d.Client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode < http.StatusInternalServerError
}
