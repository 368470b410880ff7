package configuration

import (
	"google.golang.org/protobuf/proto"

	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

// The objects that each tenant gets. An object that is added here reaches all tenants. Objects that an
// administrator renamed or archived stay as they are.
var (
	prefixes      = namedItems("Dr.", "Miss", "Mr.", "Mrs.", "Ms.", "Mx.", "Prof.")
	suffixes      = namedItems("II", "III", "IV", "Jr.", "M.D.", "Ph.D.", "Sr.")
	fieldsOfStudy = namedItems(
		"Accounting", "Agriculture", "Architecture", "Arts", "Biology", "Business Administration", "Chemistry", "Communication",
		"Computer Science", "Economics", "Education", "Engineering", "Finance", "History", "Hospitality", "Human Resources", "Languages",
		"Law", "Logistics", "Marketing", "Mathematics", "Medicine", "Nursing", "Pharmacy", "Physics", "Political Science", "Psychology",
		"Social Work", "Sociology",
	)
	jobBoards = []*recruitingv1.JobBoard{
		{Name: "Careers page", IsInternal: proto.Bool(false), IsExternal: proto.Bool(true)},
		{Name: "Internal openings", IsInternal: proto.Bool(true), IsExternal: proto.Bool(false)},
	}
	proficiencyLevels = []*recruitingv1.ProficiencyLevel{
		{Name: "Beginner", OrdinalValue: proto.Int32(1)},
		{Name: "Basic", OrdinalValue: proto.Int32(2)},
		{Name: "Competent", OrdinalValue: proto.Int32(3)},
		{Name: "Advanced", OrdinalValue: proto.Int32(4)},
		{Name: "Expert", OrdinalValue: proto.Int32(5)},
	}
	recruitingProcesses = []*recruitingv1.RecruitingProcess{{Name: "Standard", Steps: []*recruitingv1.RecruitingStep{
		{Name: "Applied"}, {Name: "Screening"}, {Name: "Interview"}, {Name: "Offer"}, {Name: "Hired"},
	}}}
)

// namedItems returns items that have only a name.
func namedItems(names ...string) (items []*item) {
	for _, name := range names {
		items = append(items, &item{Name: name})
	}
	return items
}
