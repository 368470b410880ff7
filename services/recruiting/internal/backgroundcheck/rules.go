package backgroundcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

var (
	// open are the statuses of background checks whose vendors owe results.
	open     = []string{"Requested", "InProgress"}
	statuses = slices.Concat(open, []string{"Completed", "Cancelled"})
)

// prepare checks a background check, and clears the properties that the product sets.
func prepare(c *backgroundCheck) error {
	c.OrderNumber = strings.TrimSpace(c.GetOrderNumber())
	var errs []error
	require := func(path string, present bool) {
		if !present {
			errs = append(errs, missing(path))
		}
	}
	require("author.id", c.GetAuthor().GetId() != "")
	require("application.id", c.GetApplication().GetId() != "")
	require("status", c.GetStatus() != "")
	if c.GetStatus() != "" && !slices.Contains(statuses, c.GetStatus()) {
		errs = append(errs, fault.Invalid(CodeInvalid, "status must be one of "+strings.Join(statuses, ", ")+".").WithMembers("status"))
	}
	require("order_number", c.GetOrderNumber() != "")
	require("packages", len(c.GetPackages()) > 0)
	for i, p := range c.GetPackages() {
		require(fmt.Sprintf("packages[%d].name", i), strings.TrimSpace(p.GetName()) != "")
		for k, s := range p.GetScreenings() {
			require(fmt.Sprintf("packages[%d].screenings[%d].name", i, k), strings.TrimSpace(s.GetName()) != "")
		}
	}
	if len(errs) > 0 {
		return fault.Join(errs...)
	}
	c.Id, c.CreatedAt, c.UpdatedAt, c.Links = "", "", "", nil
	return nil
}

func missing(path string) error {
	return fault.Invalid(CodeMissing, path+" is missing. Send it.").WithMembers(path)
}

// show returns the background check of a record with the properties that follow from others.
func show(candidateID string, r *record.Record[*backgroundCheck]) *backgroundCheck {
	c := r.Show()
	c.Links = []*recruitingv1.Link{
		{Href: "/v1/recruiting/candidates/" + candidateID + "/background-checks/" + r.ID, Rel: "self"},
		{Href: "/v1/recruiting/applications/" + c.GetApplication().GetId(), Rel: "application"},
	}
	return c
}

// showRequest returns the request of a record with the properties that follow from others.
func showRequest(r *record.Record[*request]) *request {
	q := r.Show()
	q.Token = record.Cursor(r.Changed)
	candidate := "/v1/recruiting/candidates/" + q.GetCandidate().GetId()
	q.Links = []*recruitingv1.Link{
		{Href: candidate, Rel: "candidate"},
		{Href: "/v1/recruiting/applications/" + q.GetApplication().GetId(), Rel: "application"},
		{Href: candidate + "/background-checks", Rel: "background-checks"},
	}
	return q
}
