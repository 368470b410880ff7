package candidate

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/emailaddress"
	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// minPostalCode is the smallest number of characters of a postal code.
const minPostalCode = 3

// roles are the roles that a candidate may have.
var roles = []string{"hiring-manager", "onboarding-owner", "recruiter", "recruiting-administrator"}

// linked are the last parts of the paths of resources that a candidate has links to.
var linked = []string{"comments", "behaviors", "educations", "motivations", "licenses", "skills", "references", "work-experience", "documents"}

// prepare checks a new candidate, sets the defaults, and clears the properties that the product sets.
func prepare(c *candidate) error {
	if c.GetName() == nil {
		c.Name = &recruitingv1.CandidateName{}
	}
	if c.GetContactInfo() == nil {
		c.ContactInfo = &recruitingv1.CandidateContact{}
	}
	contact := c.GetContactInfo()
	var errs []error
	for path, text := range fault.InOrder(map[string]*string{"name.first": &c.Name.First, "name.last": &c.Name.Last, "contact_info.email": &contact.Email}) {
		if *text = strings.TrimSpace(*text); *text == "" {
			errs = append(errs, missing(path))
		}
	}
	if contact.GetEmail() != "" && !emailaddress.Valid(contact.GetEmail()) {
		errs = append(errs, invalid("contact_info.email", "must be an e-mail address."))
	}
	if code := contact.GetAddress().GetPostalCode(); code != "" && utf8.RuneCountInString(code) < minPostalCode {
		errs = append(errs, invalid("contact_info.address.postal_code", fmt.Sprintf("must have at least %d characters.", minPostalCode)))
	}
	for i, role := range c.GetRoles() {
		if !slices.Contains(roles, role) {
			errs = append(errs, invalid(fmt.Sprintf("roles[%d]", i), "must be "+strings.Join(roles, ", ")+"."))
		}
	}
	for i, link := range c.GetHyperlinks() {
		if !isAddress(link.GetUrl()) {
			errs = append(errs, invalid(fmt.Sprintf("hyperlinks[%d].url", i), "must be an address that begins with https:// or http://."))
		}
	}
	if len(errs) > 0 {
		return fault.Join(errs...)
	}
	for flag, value := range map[**bool]bool{&c.IsActive: true, &c.IsWillingToRelocate: false} {
		if *flag == nil {
			*flag = proto.Bool(value)
		}
	}
	c.Id, c.CreatedAt, c.UpdatedAt, c.Links, c.IsDeleted = "", "", "", nil, false
	c.PersonId = strings.ToLower(c.GetPersonId())
	c.IsInternal = proto.Bool(c.GetPersonId() != "")
	return nil
}

// isAddress reports whether a text is an absolute address of the web.
func isAddress(text string) bool {
	address, err := url.Parse(text)
	return err == nil && (address.Scheme == "https" || address.Scheme == "http") && address.Host != ""
}

// show returns the candidate of a record with the properties that follow from others.
func show(r *record.Record[*candidate]) *candidate {
	c := r.Show()
	if r.Deleted {
		return c
	}
	self := "/v1/recruiting/candidates/" + r.ID
	c.Links = []*recruitingv1.Link{{Href: self, Rel: "self"}}
	for _, rel := range linked {
		c.Links = append(c.Links, &recruitingv1.Link{Href: self + "/" + rel, Rel: rel})
	}
	return c
}

func missing(path string) error {
	return fault.Invalid(CodeMissing, path+" is missing. Send it.").WithMembers(path)
}

func invalid(path, problem string) error {
	return fault.Invalid(CodeInvalid, path+" "+problem).WithMembers(path)
}
