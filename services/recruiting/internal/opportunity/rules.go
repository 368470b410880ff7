package opportunity

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// The statuses of an opportunity.
const (
	Draft     = "Draft"
	Published = "Published"
	Closed    = "Closed"
)

// givenNumber is the form of the requisition numbers that the product gives.
var givenNumber = regexp.MustCompile(`(?i)^REQ[0-9]+$`)

// prepare checks a new opportunity, sets the defaults, and clears the properties that the product
// sets. The caller is the GUID of a person, or "".
func prepare(o *opportunity, caller string) error {
	var errs []error
	switch number := strings.TrimSpace(o.GetRequisitionNumber()); {
	case givenNumber.MatchString(number):
		errs = append(errs, fault.Invalid(CodeInvalid, "Requisition numbers of the form REQ000001 are given by the product. Leave requisition_number out, or send another one.").WithMembers("requisition_number"))
	default:
		o.RequisitionNumber = number
	}
	if o.GetJob() != nil && strings.TrimSpace(o.GetJob().GetCode()) == "" {
		errs = append(errs, missing("job.code"))
	}
	seen := map[string]bool{}
	for i, board := range o.GetJobBoards() {
		path := fmt.Sprintf("job_boards[%d]", i)
		board.Id = strings.ToLower(board.GetId())
		switch {
		case board.GetId() == "":
			errs = append(errs, missing(path+".id"))
		case seen[board.GetId()]:
			errs = append(errs, fault.Invalid(CodeInvalid, path+" repeats a job board. Name each board once.").WithMembers(path+".id"))
		}
		if !isAddress(board.GetRecruitingApplyUrl()) {
			errs = append(errs, notAddress(path+".recruiting_apply_url"))
		}
		seen[board.GetId()] = true
		board.IsPublishedInternal, board.IsPublishedExternal = false, false
	}
	if len(errs) > 0 {
		return fault.Join(errs...)
	}
	if o.GetRecruiter() == nil && caller != "" {
		o.Recruiter = &recruitingv1.IdRef{Id: caller}
	}
	o.Id, o.CreatedAt, o.UpdatedAt, o.PublishedDate, o.ClosedDate, o.Links, o.IsDeleted = "", "", "", "", "", nil, false
	o.Status = Draft
	positions := int32(1)
	if o.GetHeadCount() != nil && o.HeadCount.Max != nil {
		positions = o.HeadCount.GetMax()
	}
	o.HeadCount = &recruitingv1.HeadCount{Max: &positions, Hired: proto.Int32(0)}
	o.FullTimeEquivalent = &recruitingv1.OpportunityFullTimeEquivalent{Budgeted: proto.Float64(o.GetFullTimeEquivalent().GetBudgeted()), Filled: proto.Float64(0)}
	for _, flag := range []**bool{&o.IsFeatured, &o.IsSharedWithEveryone, &o.IsContinuousOpening, &o.IsBudgeted} {
		if *flag == nil {
			*flag = proto.Bool(false)
		}
	}
	return nil
}

// publish makes a draft published, or returns an error that names the missing properties.
func publish(o *opportunity, now time.Time) error {
	if err := requireStatus(o, "published", Draft); err != nil {
		return err
	}
	var paths []string
	for path, present := range fault.InOrder(map[string]bool{
		"title":              hasText(o.GetTitle()),
		"description.brief":  hasText(o.GetDescription().GetBrief().GetInternal()) || hasText(o.GetDescription().GetBrief().GetExternal()),
		"job.code":           o.GetJob() != nil,
		"recruiting_process": o.GetRecruitingProcess() != nil,
		"job_boards":         len(o.GetJobBoards()) > 0,
	}) {
		if !present {
			paths = append(paths, path)
		}
	}
	if len(paths) > 0 {
		return fault.Invalid(CodeIncomplete, fmt.Sprintf("The opportunity cannot be published without %s.", strings.Join(paths, ", "))).WithMembers(paths...)
	}
	o.Status, o.PublishedDate = Published, record.Moment(now.UnixMicro())
	return nil
}

// refresh sets the published date of a published opportunity.
func refresh(o *opportunity, now time.Time) error {
	if err := requireStatus(o, "refreshed", Published); err != nil {
		return err
	}
	o.PublishedDate = record.Moment(now.UnixMicro())
	return nil
}

// closeOpening closes a published opportunity, and removes it from its job boards.
func closeOpening(o *opportunity, now time.Time) error {
	if err := requireStatus(o, "closed", Published); err != nil {
		return err
	}
	o.Status, o.ClosedDate = Closed, record.Moment(now.UnixMicro())
	for _, board := range o.GetJobBoards() {
		board.IsPublishedInternal, board.IsPublishedExternal = false, false
	}
	return nil
}

// hire counts a hire with a full-time equivalent, and closes the opportunity if that fills the last
// position and the opening is not continuous.
func hire(o *opportunity, equivalent float64, now time.Time) error {
	positions, continuous := o.GetHeadCount(), o.GetIsContinuousOpening()
	if !continuous && positions.GetHired() >= positions.GetMax() {
		return fault.Conflict(CodeFilled, fmt.Sprintf("All %d positions of the opportunity %s are filled.", positions.GetMax(), o.GetRequisitionNumber()))
	}
	positions.Hired = proto.Int32(positions.GetHired() + 1)
	o.FullTimeEquivalent.Filled = proto.Float64(o.GetFullTimeEquivalent().GetFilled() + equivalent)
	if !continuous && o.GetStatus() == Published && positions.GetHired() == positions.GetMax() {
		return closeOpening(o, now)
	}
	return nil
}

// requireStatus returns an error if the opportunity does not have a status.
func requireStatus(o *opportunity, action, status string) error {
	if o.GetStatus() == status {
		return nil
	}
	return fault.Conflict(CodeStatus, fmt.Sprintf("The opportunity has the status %s. Only an opportunity with the status %s can be %s.", o.GetStatus(), status, action))
}

// show returns the opportunity of a record with the properties that follow from others.
func show(r *record.Record[*opportunity]) *opportunity {
	o := r.Show()
	if r.Deleted {
		return o
	}
	positions, equivalent := o.GetHeadCount(), o.GetFullTimeEquivalent()
	positions.Remaining = proto.Int32(max(0, positions.GetMax()-positions.GetHired()))
	equivalent.Remaining = proto.Float64(max(0, equivalent.GetBudgeted()-equivalent.GetFilled()))
	self := "/v1/recruiting/opportunities/" + r.ID
	o.Links = []*recruitingv1.Link{{Href: self, Rel: "self"}}
	for _, rel := range []string{"screening-questions", "country-questions", "assessments", "recruiters"} {
		o.Links = append(o.Links, &recruitingv1.Link{Href: self + "/" + rel, Rel: rel})
	}
	return o
}

func missing(path string) error {
	return fault.Invalid(CodeMissing, path+" is missing. Send it.").WithMembers(path)
}

// isAddress reports whether a text is empty or an absolute address with https.
func isAddress(text string) bool {
	if text == "" {
		return true
	}
	address, err := url.Parse(text)
	return err == nil && address.Scheme == "https" && address.Host != ""
}

func notAddress(path string) error {
	return fault.Invalid(CodeInvalid, path+" must be an address that begins with https://.").WithMembers(path)
}

// hasText reports whether a localized text has a text in some language.
func hasText(texts map[string]string) bool {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return true
		}
	}
	return false
}
