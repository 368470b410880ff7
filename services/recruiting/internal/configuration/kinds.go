// Package configuration keeps the lists that the objects of recruiting refer to, such as applicant
// sources.
package configuration

import (
	"github.com/rotaloom/rotaloom/pkg/setup"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

const (
	// CodeMissing (400): a required property is missing. Send it.
	CodeMissing = "WRL-50101"
	// CodeInvalid (400): a property has a value that is not allowed. Correct it.
	CodeInvalid = "WRL-50102"
	// CodeTaken (409): another object of the kind has the name or the code. Choose another one.
	CodeTaken = "WRL-50103"
	// CodeUnknown (400; 404 for one in a path): no object of the kind has the id or the name. List the objects of the kind.
	CodeUnknown = "WRL-50104"
	// CodeOtherID (400): the id in the body differs from the id in the path. Leave it out of the body.
	CodeOtherID = "WRL-50105"
	// CodeArchived (400): the object is archived. Name an active one.
	CodeArchived = "WRL-50106"
)

// item is an object of the kinds that have a name alone.
type item = recruitingv1.ConfigurationItem

// The kinds of configuration. Each one has a table, and a path with its objects.
var (
	ApplicantSource   = declare[*item]("applicant source", "applicant_source", "applicant-sources")
	Behavior          = declare[*item]("behavior", "behavior", "behaviors")
	DispositionReason = declare[*item]("disposition reason", "disposition_reason", "disposition-reasons")
	FieldOfStudy      = declare[*item]("field of study", "field_of_study", "fields-of-study").with(fieldsOfStudy...)
	Motivation        = declare[*item]("motivation", "motivation", "motivations")
	Prefix            = declare[*item]("prefix", "prefix", "prefixes").with(prefixes...)
	Suffix            = declare[*item]("suffix", "suffix", "suffixes").with(suffixes...)
	JobBoard          = declare[*recruitingv1.JobBoard]("job board", "job_board", "job-boards").with(jobBoards...)
	LegalEntity       = declare[*recruitingv1.LegalEntity]("legal entity", "legal_entity", "legal-entities", "code")
	OrgUnit           = declare[*recruitingv1.OrgUnit]("organizational unit", "org_unit", "org-units", "code")
	PhysicalLocation  = declare[*recruitingv1.PhysicalLocation]("physical location", "physical_location", "physical-locations")
	ProficiencyLevel  = declare[*recruitingv1.ProficiencyLevel]("proficiency level", "proficiency_level", "proficiency-levels").with(proficiencyLevels...)
	RecruitingProcess = declare[*recruitingv1.RecruitingProcess]("recruiting process", "recruiting_process", "recruiting-processes").with(recruitingProcesses...)
	TaxLocation       = declare[*recruitingv1.TaxLocation]("tax location", "tax_location", "locations", "code")
)

// Kind is a kind of configuration.
type Kind[T object] struct {
	*setup.Kind[T]
	defaults []T
}

// object is the message of a kind. All have the properties is_active and links.
type object interface {
	setup.Message
	GetId() string
	GetIsActive() bool
}

// declare returns the kind of a table. The segment is the last part of its path. The properties in
// unique are texts that no two objects share.
func declare[T object](what, table, segment string, unique ...string) Kind[T] {
	return Kind[T]{Kind: setup.NewKind(setup.Declaration[T]{
		Codes: setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, TakenConflicts: true, Unknown: CodeUnknown, OtherID: CodeOtherID},
		What:  what, Table: table, Unique: unique,
		Strip: func(o T) { setLinks(o) },
		Fill: func(o T, _ int64) {
			setLinks(o, &recruitingv1.Link{Href: "/v1/recruiting/" + segment + "/" + o.GetId(), Rel: "self"})
		},
	})}
}

// with returns the kind with the objects that each tenant gets.
func (k Kind[T]) with(defaults ...T) Kind[T] {
	k.defaults = defaults
	return k
}
