package dataprovider

import (
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
)

func labor(p *person) []dated { return p.labor }

func job(p *person) []dated { return p.job }

func commonElements() []entry {
	return []entry{
		{
			Key: "EMP_COMMON_FULL_NAME", Label: "Employee name", Doc: "The name as \"Last, First\".", Type: dataelement.String, Categories: employee,
			Value: func(p *person, _ at) value { return dataelement.Text(p.fullName) },
		},
		{
			Key: "EMP_COMMON_FULL_NAME_AND_PERSON_NUMBER", Label: "Employee name and number", Doc: "The name with the person number in brackets.",
			Type: dataelement.String, Categories: employee,
			Value: func(p *person, _ at) value { return dataelement.Text(p.fullName + " (" + p.number + ")") },
		},
		// The id is a text because clients join it with the ids of persons.
		{
			Key: "EMP_COMMON_ID", Label: "Employee id", Doc: "The id of the person, as text.", Type: dataelement.String, Categories: employee,
			Value: func(p *person, _ at) value { return dataelement.Text(strconv.FormatInt(p.id, 10)) },
		},
		textOn("EMP_COMMON_PRIMARY_JOB", "Primary job", "The path of the primary job on the last day.", needLabor, labor, 0),
		pathElement("EMP_COMMON_PRIMARY_JOB_TITLE", "Primary job title", "The name of the primary job: the last part of its path.",
			func(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }),
		pathElement("EMP_COMMON_PRIMARY_ORG", "Primary location", "The path of the location of the primary job.",
			func(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }),
		pathElement("EMP_COMMON_PRIMARY_ORG_DESCRIPTION", "Primary location name", "The name of the location of the primary job.",
			func(path string) string {
				place := path[:max(0, strings.LastIndexByte(path, '/'))]
				return place[strings.LastIndexByte(place, '/')+1:]
			}),
		sinceOn("EMP_COMMON_PRIMARY_JOB_EFFECTIVE_DATE", "Primary job since", "The first day of the primary job.", needLabor, labor),
		untilOn("EMP_COMMON_PRIMARY_JOB_END_DATE", "Primary job until", "The last day of the primary job, 3000-01-01 for one without end.",
			needLabor, labor),
		textOn("EMP_COMMON_PRIMARY_JOB_CODE", "Primary job code", "The code of the primary job in the business structure.", needJob, job, 0),
		textOn("EMP_COMMON_PRIMARY_JOB_DESCRIPTION", "Primary job description", "The description of the primary job in the business structure.",
			needJob, job, 1),
		textOn("EMP_COMMON_PRIMARY_JOB_SORT_ORDER", "Primary job order", "Where the primary job stands among others, as the business structure says.",
			needJob, job, 2),
		column("EMP_COMMON_DISPLAY_PROFILE", "Display profile", "The preference profile.", textPreferenceProfile),
		textOn("EMP_COMMON_EMPLOYEE_GROUP", "Employee group", "The group of employees that the person manages.", needAccess,
			func(p *person) []dated { return p.access }, 1),
		column("EMP_COMMON_FUNCTION_ACCESS_PROFILE", "Function access profile", "What the person may do.", textAccessProfile),
	}
}

// pathElement returns an element that shows a part of the path of the primary job.
func pathElement(key, label, doc string, part func(string) string) entry {
	return entry{
		Key: key, Label: label, Doc: doc, Type: dataelement.String, Categories: employee, Series: true, Needs: needLabor,
		Value: func(p *person, at at) value {
			if d := on(p.labor, at.Last()); d != nil {
				return dataelement.Text(part(d.texts[0]))
			}
			return value{}
		},
	}
}

func identityElements() []entry {
	details := func(key, label, doc string, text func(*person) string) entry {
		return entry{
			Key: key, Label: label, Doc: doc, Type: dataelement.String, Categories: employee, Needs: needBody,
			Value: func(p *person, _ at) value { return dataelement.Text(text(p)) },
		}
	}
	badge := func(p *person) []dated { return p.badge }
	account := func(p *person) []dated { return p.account }
	return []entry{
		{
			Key: "PEOPLE_PERSON_ID", Label: "Person id", Doc: "The id of the person.", Type: dataelement.Long, Categories: employee,
			Value: func(p *person, _ at) value { return dataelement.Whole(p.id) },
		},
		{
			Key: "PEOPLE_PERSON_NUMBER", Label: "Person number", Doc: "The person number.", Type: dataelement.String, Categories: employee,
			Value: func(p *person, _ at) value { return dataelement.Text(p.number) },
		},
		column("PEOPLE_FIRST_NAME", "First name", "The first name.", textFirstName),
		column("PEOPLE_LAST_NAME", "Last name", "The last name.", textLastName),
		column("PEOPLE_MIDDLE_INITIAL", "Middle initial", "The first letter of the middle name.", textMiddleInitial),
		column("PEOPLE_SHORT_NAME", "Short name", "The short name.", textShortName),
		details("PEOPLE_PHONETIC_FULL_NAME", "Phonetic name", "The name as it is spoken.",
			func(p *person) string { return p.body.GetPersonInformation().GetPerson().GetPhoneticFullName() }),
		details("PEOPLE_ROMANIZED_FULL_NAME", "Romanized name", "The name in Latin letters.",
			func(p *person) string { return p.body.GetPersonInformation().GetPerson().GetRomanizedFullName() }),
		{
			Key: "PEOPLE_BIRTH_DATE", Label: "Birth date", Doc: "The day of birth.", Type: dataelement.Date, Categories: employee,
			Value: func(p *person, _ at) value { return dayValue(p.birthDate) },
		},
		column("PEOPLE_USER_ACCOUNT_NAME", "User name", "The name of the user account.", textUserName),
		textOn("PEOPLE_USER_ACCOUNT_STATUS", "User account status", "Active, Inactive or Terminated, on the last day.", needAccount, account, 0),
		sinceOn("PEOPLE_USER_ACCOUNT_STATUS_DATE", "User account status since", "Since when the user account has its status.", needAccount, account),
		textOn("PEOPLE_BADGE_NUMBER", "Badge number", "The badge on the last day; the first of several.", needBadge, badge, 0),
		sinceOn("PEOPLE_BADGE_EFFECTIVE_DATE", "Badge since", "The first day of the badge.", needBadge, badge),
		untilOn("PEOPLE_BADGE_EXPIRATION_DATE", "Badge until", "The last day of the badge, 3000-01-01 for one without end.", needBadge, badge),
		{
			Key: "PEOPLE_CUSTOM", Label: "Custom field", Doc: "A custom field.", Type: dataelement.String, Categories: employee, Needs: needCustomData,
			Properties: []dataelement.Property{{Key: "NAME", Doc: "The name of the field."}},
			Value: func(p *person, at at) value {
				if d := findNamed(p.customData, at.Properties["NAME"]); d != nil {
					return dataelement.Text(d.texts[1])
				}
				return value{}
			},
		},
		{
			Key: "PEOPLE_CUSTOM_DATE", Label: "Custom date", Doc: "A custom date.", Type: dataelement.Date, Categories: employee, Needs: needCustomDate,
			Properties: []dataelement.Property{{Key: "NAME", Doc: "The name of the date."}},
			Value: func(p *person, at at) value {
				if d := findNamed(p.customDate, at.Properties["NAME"]); d != nil {
					return dataelement.Day(d.days.From)
				}
				return value{}
			},
		},
		column("PEOPLE_AOID", "Associate id", "The id of the person in another system.", textAOID),
		column("PEOPLE_COID", "Client id", "The id of the client in another system.", textCOID),
	}
}
