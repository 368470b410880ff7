package seed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

const (
	recruiting = "/v1/recruiting/"
	candidates = 40
	// openings are the published opportunities. The last opportunity stays a draft.
	openings = 4
	// apprenticeCode is the code of the job of all opportunities.
	apprenticeCode = "APPRENTICE"
	process        = "Standard"
	// boardName is the name of the job board of the public.
	boardName = "Careers page"
)

var opportunityTitles = [openings + 1]string{"Apprentice in Zurich", "Apprentice in New York", "Apprentice in Sao Paulo", "Apprentice in Tokyo", "Apprentice anywhere"}

// Candidates have a first and a last name each, in all pairs.
var (
	firstNames = []string{"Ada", "Bo", "Chidi", "Dana", "Emil", "Fumiko", "Goran", "Hana"}
	lastNames  = []string{"Ito", "Keller", "Moreno", "Okafor", "Silva"}
)

// identified is an object of recruiting, with the properties that tell the ones of the demonstration apart.
type identified struct {
	ID                string
	Name              json.RawMessage
	RequisitionNumber string `json:"requisition_number"`
	Status            string
	ContactInfo       struct{ Email string } `json:"contact_info"`
	Candidate         struct{ ID string }
	Step              struct{ Name string }
	Steps             []struct{ Name string }
}

// createRecruiting creates five opportunities, and candidates that apply for the published ones. Some
// application stands at each step, and one candidate is hired.
func createRecruiting(ctx context.Context, c *Client, all []rotation, start time.Time) error {
	board, steps, err := findConfiguration(ctx, c)
	if err != nil {
		return err
	}
	opportunities, err := createOpportunities(ctx, c, board)
	if err != nil {
		return err
	}
	people, err := createCandidates(ctx, c)
	if err != nil {
		return err
	}
	if err := apply(ctx, c, opportunities, people, steps); err != nil {
		return err
	}
	return hire(ctx, c, people[hiredCandidate], all, start)
}

// findConfiguration returns the id of the job board, and the names of the steps before the hire.
func findConfiguration(ctx context.Context, c *Client) (board string, steps []string, err error) {
	boards, err := byKey(ctx, c, "job-boards", configuredName)
	if err != nil {
		return "", nil, err
	}
	processes, err := byKey(ctx, c, "recruiting-processes", configuredName)
	if err != nil {
		return "", nil, err
	}
	for _, step := range processes[process].Steps {
		steps = append(steps, step.Name)
	}
	if boards[boardName].ID == "" || len(steps) < 2 {
		return "", nil, fmt.Errorf("the job board %s or the recruiting process %s is missing", boardName, process)
	}
	return boards[boardName].ID, steps[:len(steps)-1], nil
}

// createOpportunities returns the ids of the published opportunities.
func createOpportunities(ctx context.Context, c *Client, board string) (published []string, err error) {
	if err := c.call(ctx, http.MethodPost, "/v1/commons/jobs", object{"name": "Apprentice", "code": apprenticeCode}, nil); err != nil && !hasCode(err, nameTaken) {
		return nil, err
	}
	found, err := byKey(ctx, c, "opportunities", func(o identified) string { return o.RequisitionNumber })
	if err != nil {
		return nil, err
	}
	for i, title := range opportunityTitles {
		number := fmt.Sprintf("DEMO-%d", i+1)
		o := found[number]
		if o.ID == "" {
			if err := c.call(ctx, http.MethodPost, recruiting+"opportunities", opportunity(number, title, board), &o); err != nil {
				return nil, err
			}
		}
		if i == openings {
			break
		}
		if o.Status == "Draft" {
			if err := c.call(ctx, http.MethodPost, recruiting+"opportunities/"+o.ID+"/publish", nil, nil); err != nil {
				return nil, err
			}
		}
		published = append(published, o.ID)
	}
	return published, nil
}

func opportunity(number, title, board string) object {
	return object{
		"requisition_number": number, "title": object{"en_us": title},
		"description": object{
			"brief":    object{"external": object{"en_us": "Learn to operate our machines."}},
			"detailed": object{"external": object{"en_us": "You work in a crew with a rotation, and earn a wage from the first day."}},
		},
		"job": object{"code": apprenticeCode}, "recruiting_process": object{"name": process}, "job_boards": []object{{"id": board}},
		"head_count": object{"max": 3}, "full_time_equivalent": object{"budgeted": 3}, "hours_per_week": 40,
	}
}

// candidateName returns the first and the last name of a candidate.
func candidateName(i int) (first, last string) {
	return firstNames[i%len(firstNames)], lastNames[i/len(firstNames)]
}

// createCandidates returns the ids of the candidates, in their order.
func createCandidates(ctx context.Context, c *Client) (ids []string, err error) {
	found, err := byKey(ctx, c, "candidates", func(o identified) string { return o.ContactInfo.Email })
	if err != nil {
		return nil, err
	}
	for i := range candidates {
		first, last := candidateName(i)
		email := strings.ToLower(first + "." + last + "@example.com")
		o := found[email]
		if o.ID == "" {
			body := object{"name": object{"first": first, "last": last}, "contact_info": object{"email": email}}
			if err := c.call(ctx, http.MethodPost, recruiting+"candidates", body, &o); err != nil {
				return nil, err
			}
		}
		ids = append(ids, o.ID)
	}
	return ids, nil
}

// apply creates an application of each candidate, and moves it to a step.
func apply(ctx context.Context, c *Client, opportunities, people, steps []string) error {
	found, err := byKey(ctx, c, "applications", func(o identified) string { return o.Candidate.ID })
	if err != nil {
		return err
	}
	for i, candidate := range people {
		a := found[candidate]
		if a.ID == "" {
			body := object{"candidate": object{"id": candidate}, "opportunity": object{"id": opportunities[i%len(opportunities)]}}
			if err := c.call(ctx, http.MethodPost, recruiting+"applications", body, &a); err != nil {
				return err
			}
		}
		// Each opportunity has applications at all steps.
		step := steps[i/len(opportunities)%len(steps)]
		if step == a.Step.Name || a.Step.Name != steps[0] {
			continue
		}
		if err := c.call(ctx, http.MethodPost, recruiting+"applications/"+a.ID+"/disposition-events", object{"destination_step": object{"name": step}}, nil); err != nil {
			return err
		}
	}
	return nil
}

// configuredName returns the name of an object of the configuration.
func configuredName(o identified) (name string) {
	if json.Unmarshal(o.Name, &name) != nil {
		return ""
	}
	return name
}

// nextLink finds the address of the next page in a header Link.
var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// byKey returns all objects of a list by a key. It follows the links to the next pages.
func byKey(ctx context.Context, c *Client, list string, key func(identified) string) (map[string]identified, error) {
	found := map[string]identified{}
	for path := recruiting + list; ; {
		var page []identified
		header, err := c.send(ctx, http.MethodGet, path, nil, &page)
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			found[key(o)] = o
		}
		next := nextLink.FindStringSubmatch(header.Get("Link"))
		if next == nil {
			return found, nil
		}
		at := strings.Index(next[1], recruiting)
		if at < 0 {
			return nil, errors.New("the link to the next page leads elsewhere: " + next[1])
		}
		path = next[1][at:]
	}
}
