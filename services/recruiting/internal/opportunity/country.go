package opportunity

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
)

// countryQuestion is a question that the law of a country makes necessary.
type countryQuestion struct {
	// key tells the questions of a country apart. It never changes, because ids follow from it.
	key   string
	texts map[string]string
}

// countryQuestions has the questions of each country, by the code with two letters.
var countryQuestions = map[string][]countryQuestion{
	"CA": {{"work-authorization", map[string]string{
		"en_us": "Are you legally entitled to work in Canada?", "fr_ca": "Avez-vous le droit de travailler au Canada?",
	}}},
	"DE": {{"work-authorization", map[string]string{
		"en_us": "Are you a citizen of the EU, the EEA or Switzerland, or do you have a residence title that permits work in Germany?",
		"de_de": "Sind Sie Bürger der EU, des EWR oder der Schweiz, oder haben Sie einen Aufenthaltstitel, der die Arbeit in Deutschland erlaubt?",
	}}},
	"GB": {{"work-authorization", map[string]string{"en_us": "Do you have the right to work in the United Kingdom?"}}},
	"US": {
		{"work-authorization", map[string]string{"en_us": "Are you legally authorized to work in the United States?"}},
		{"sponsorship", map[string]string{"en_us": "Will you now or in the future need sponsorship for an employment visa?"}},
	},
}

// threeLetters has the codes with three letters of the countries with questions.
var threeLetters = map[string]string{"CAN": "CA", "DEU": "DE", "GBR": "GB", "USA": "US"}

// countrySpace is the namespace of the ids of country questions.
var countrySpace = uuid.MustParse("0b0f9c2e-6d0f-4c53-9a0b-5f4a7c3d1e21")

// listQuestions returns the questions of countries, each country once.
func listQuestions(countries []string) (out []*recruitingv1.CountryQuestion) {
	seen := map[string]bool{}
	for _, code := range countries {
		code = strings.ToUpper(strings.TrimSpace(code))
		if short, ok := threeLetters[code]; ok {
			code = short
		}
		if seen[code] {
			continue
		}
		seen[code] = true
		for _, q := range countryQuestions[code] {
			out = append(out, &recruitingv1.CountryQuestion{
				Id: uuid.NewSHA1(countrySpace, []byte(code+"/"+q.key)).String(), Country: code, Question: q.texts,
				Type: multipleChoice, Choices: []string{"Yes", "No"}, IsRequired: true,
			})
		}
	}
	return out
}

// ListCountryQuestions returns the questions that the countries of an opportunity's locations need.
func (h *Handler) ListCountryQuestions(ctx context.Context, req *byID) (*recruitingv1.CountryQuestionList, error) {
	r, err := Opportunities.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	codes, err := countries(ctx, h.pool, r.Body)
	return &recruitingv1.CountryQuestionList{Items: listQuestions(codes)}, err
}

// countries returns the codes of the countries of an opportunity's locations, in their order.
func countries(ctx context.Context, db pg.Querier, o *opportunity) (out []string, err error) {
	if len(o.GetLocations()) == 0 {
		return nil, nil
	}
	all, err := configuration.PhysicalLocation.All(ctx, db)
	if err != nil {
		return nil, err
	}
	byGUID := map[string]string{}
	for _, location := range all {
		byGUID[location.GetId()] = location.GetAddress().GetCountry().GetCode()
	}
	for _, location := range o.GetLocations() {
		out = append(out, byGUID[location.GetId()])
	}
	return out, nil
}
