package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	recruiting = "/v1/recruiting/"
	firstDay   = "2026-03-02"

	codeEmailTaken = "WRL-50204"
	codeApplied    = "WRL-50404"
	codeHired      = "WRL-50408"
	codeFilled     = "WRL-50307"
	codeRunning    = "WRL-50508"
	// unavailable stands for the code of a response that asks the caller to retry later.
	unavailable = "unavailable"
)

// The results of a hire.
const (
	hiredOnce = "hired"
	refused   = "refused"
)

// applicant is a candidate with an application.
type applicant struct {
	email, candidate, application, opportunity string
	// term is the name of the employment term on which the new employee works, or "".
	term string
	// result is "" as long as the client does not know it.
	result string
}

// hires is a deployment whose clients hire candidates.
type hires struct {
	*fixture
	// plenty and scarce are opportunities with more and with fewer positions than applications.
	plenty, scarce string
	term           string
	stop           atomic.Bool

	mu         sync.Mutex
	applicants []*applicant
}

func newHires(t *testing.T) *hires {
	t.Helper()
	w := &hires{fixture: newFixture(t, "ROTALOOM_THROTTLE=false")}
	crew, _ := w.working(1, first)
	w.term = crew.Name
	create := func(list string, body scenario.Object) string {
		var made struct{ ID string }
		_, err := w.api.Call(w.ctx, http.MethodPost, recruiting+list, body, &made)
		require.NoError(t, err)
		return made.ID
	}
	process := create("recruiting-processes", scenario.Object{"name": "Short", "steps": []scenario.Object{{"name": "Applied"}, {"name": "Hired"}}})
	opportunity := func(positions int) string {
		return create("opportunities", scenario.Object{
			"title": scenario.Object{"en_us": "Nurse"}, "recruiting_process": scenario.Object{"id": process}, "head_count": scenario.Object{"max": positions},
		})
	}
	w.plenty, w.scarce = opportunity(9999), opportunity(scarcePositions)
	return w
}

// hireUntilStopped hires one candidate after another until the test stops it. It does not wait for hires that
// the worker of a process completes.
func (w *hires) hireUntilStopped(client int, random *rand.Rand) error {
	for n := 0; !w.stop.Load() || n < 2*scarcePositions; n++ {
		a := &applicant{email: fmt.Sprintf("kill%d.%d@example.test", client, n), opportunity: w.plenty}
		if n%4 == 0 {
			a.opportunity = w.scarce
		}
		if random.IntN(2) == 0 {
			a.term = w.term
		}
		if err := w.apply(a); err != nil {
			return err
		}
		w.mu.Lock()
		w.applicants = append(w.applicants, a)
		w.mu.Unlock()
		for range 3 {
			if err := w.hire(a); err != nil {
				return err
			}
			if a.result != "" {
				break
			}
			time.Sleep(50 * time.Millisecond) // the pause of a client before it repeats a request
		}
	}
	return nil
}

// apply creates a candidate and an application. If it does not learn the result of a request, it finds out.
func (w *hires) apply(a *applicant) error {
	candidate := scenario.Object{
		"name": scenario.Object{"first": "Ada", "last": "Applicant"},
		"contact_info": scenario.Object{
			"email": a.email, "address": scenario.Object{"line1": "1 River St", "city": "Ames", "postal_code": "50010", "country": scenario.Object{"code": "USA"}},
		},
	}
	var err error
	if a.candidate, err = w.ensure("candidates", candidate, codeEmailTaken, http.MethodPost, "candidates-lookup", scenario.Object{"email": a.email}); err != nil {
		return err
	}
	application := scenario.Object{
		"candidate": scenario.Object{"id": a.candidate}, "opportunity": scenario.Object{"id": a.opportunity}, "creation_method": "CandidateImport",
	}
	a.application, err = w.ensure("applications", application, codeApplied, http.MethodGet, "applications/candidate/"+a.candidate, nil)
	return err
}

// ensure creates an object, and returns its id. If another object is in the way, an earlier request created it: the
// id is the first one that a look-up returns.
func (w *hires) ensure(list string, body scenario.Object, taken, method, lookup string, key any) (string, error) {
	for {
		var made struct{ ID string }
		code, err := w.try(http.MethodPost, list, body, &made)
		if err != nil || code == "" {
			return made.ID, err
		}
		if code == taken {
			var found []struct{ ID string }
			if code, err = w.try(method, lookup, key, &found); err != nil || code == "" {
				if len(found) != 1 {
					return "", fmt.Errorf("%s finds %d objects instead of one: %w", lookup, len(found), err)
				}
				return found[0].ID, nil
			}
		}
		if code != unavailable {
			return "", fmt.Errorf("%s: %s", list, code)
		}
		time.Sleep(20 * time.Millisecond) // the pause of a client before it repeats a request
	}
}

// hire requests a hire, and stores its result if the response tells it.
func (w *hires) hire(a *applicant) error {
	if a.result != "" {
		return nil
	}
	var hire struct{ State string }
	code, err := w.try(http.MethodPost, "applications/"+a.application+"/hire", hireRequest(a), &hire)
	switch {
	case err != nil:
		return err
	case code == "" && hire.State == "DONE", code == codeHired:
		a.result = hiredOnce
	case code == codeFilled:
		a.result = refused
	case code != unavailable && code != codeRunning:
		return fmt.Errorf("the hire of %s: %s %s", a.email, code, hire.State)
	}
	return nil
}

func hireRequest(a *applicant) scenario.Object {
	body := scenario.Object{
		"hire_details": scenario.Object{"start_date": firstDay},
		"employee":     scenario.Object{"CompanyIdentifier": scenario.Object{"CompanyCode": "ACME1"}, "BirthDate": "1990-05-02"},
	}
	if a.term != "" {
		body["employment_term"] = scenario.Object{"name": a.term}
	}
	return body
}

// try calls an operation of recruiting, and returns the code of its refusal.
func (w *hires) try(method, path string, body, reply any) (code string, err error) {
	_, err = w.api.Call(w.ctx, method, recruiting+path, body, reply)
	if isUnavailable(err) {
		return unavailable, nil
	}
	var refusal *scenario.Refused
	if !errors.As(err, &refusal) {
		return "", err
	}
	var items []struct {
		Code string `json:"message_code"`
	}
	if json.Unmarshal(refusal.Body, &items) != nil || len(items) != 1 || !strings.HasPrefix(items[0].Code, "WRL-5") {
		return "", err
	}
	return items[0].Code, nil
}
