package newhire

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

// workplace is the workplace of a new hire: the location of the LocationCode and its
// ancestors, the nearest first.
type workplace []workLocation

// workLocation is a location from the new hire or from the business structure.
type workLocation struct{ name, address string }

const iowa = "IA"

// checkIowa refuses an amount for a location outside Iowa. The residence of the person does
// not matter.
func (w workplace) checkIowa(name string) error {
	switch state, location := w.state(); state {
	case iowa:
		return nil
	case "":
		return fault.Invalid(rules.CodeCombination, fmt.Sprintf("%s is for locations in Iowa only, and nothing says in which state the location is. "+
			"Send a LocationCode that begins with IA, or of a location whose address is in Iowa or that lies below one that is called Iowa or IA.", name))
	default:
		return fault.Invalid(rules.CodeCombination, fmt.Sprintf("%s is for locations in Iowa only, and the location is in %s, as %.40q says. Leave it out.",
			name, state, location))
	}
}

// state returns the postal code of the state of the workplace, and the text from which it
// follows. The nearest location with a state decides. Without any, state returns "".
func (w workplace) state() (state, by string) {
	for _, p := range w {
		if strings.EqualFold(strings.TrimSpace(p.name), "Iowa") {
			return iowa, p.name
		}
		if state := stateIn(p.name); state != "" {
			return state, p.name
		}
		if state := stateOfAddress(p.address); state != "" {
			return state, p.address
		}
	}
	return "", ""
}

// states are the postal codes of the United States.
const states = " AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY PR "

// stateIn returns the state at the beginning of a location's name: the postal code alone, or
// before a digit or a sign, or in capitals before a space. So "IA01", "ia-ames" and "IA Ames"
// are in Iowa, but "In Store" has no state. Without a state, it returns "".
func stateIn(location string) string {
	name := strings.TrimSpace(location)
	if len(name) < 2 {
		return ""
	}
	code := strings.ToUpper(name[:2])
	if len(name) > 2 {
		next := rune(name[2])
		if unicode.IsLetter(next) || next >= utf8.RuneSelf || next == ' ' && code != name[:2] {
			return ""
		}
	}
	return knownState(code)
}

func knownState(code string) string {
	if !strings.Contains(states, " "+code+" ") {
		return ""
	}
	return code
}

var zipOrCountry = regexp.MustCompile(`(?:^|[,\s])([A-Z]{2})(?:[,\s]+\d{5}(?:-\d{4})?)?(?:[,\s]+(?:US|USA))?\s*$`)

// stateOfAddress returns the state at the end of an address: "1 Elm St, Ames, IA
// 50010".
func stateOfAddress(address string) string {
	found := zipOrCountry.FindStringSubmatch(address)
	if found == nil {
		return ""
	}
	return knownState(found[1])
}

// levels returns the names from the top of the business structure down to the location.
func levels(in *commonsv1.NewHire) []string {
	var path []string
	for _, level := range []string{in.GetOrgLevel1(), in.GetOrgLevel2(), in.GetOrgLevel3(), in.GetOrgLevel4(), in.GetLocationCode()} {
		if level != "" {
			path = append(path, level)
		}
	}
	return path
}

// readPlaces finds the locations on each day by their paths or, if the location code is an
// external id, by that id. It returns each location with its ancestors, the nearest first.
const readPlaces = `
WITH asked AS (
    SELECT a.n, a.day, coalesce((
        SELECT p.lineage FROM location_path p WHERE p.tenant_id = $1 AND p.path = a.path AND p.from_date <= a.day AND p.to_date > a.day
    ), (
        SELECT p.lineage FROM location_version v
        JOIN location_path p ON p.tenant_id = $1 AND p.location_id = v.location_id AND p.from_date <= a.day AND p.to_date > a.day
        WHERE v.tenant_id = $1 AND v.external_id = a.code AND v.from_date <= a.day AND v.to_date > a.day ORDER BY v.location_id LIMIT 1
    )) AS lineage
    FROM unnest($2::text[], $3::text[], $4::date[]) WITH ORDINALITY AS a (path, code, day, n)
)
SELECT asked.n, v.name, v.body FROM asked
CROSS JOIN LATERAL unnest(string_to_array(trim(BOTH '.' FROM asked.lineage), '.')::bigint[]) WITH ORDINALITY AS step (id, depth)
JOIN location_version v ON v.tenant_id = $1 AND v.location_id = step.id AND v.from_date <= asked.day AND v.to_date > asked.day
WHERE asked.lineage IS NOT NULL
ORDER BY asked.n, step.depth DESC`

// workplaces returns the workplaces of new hires.
func (n *Handler) workplaces(ctx context.Context, hires []*commonsv1.NewHire) ([]workplace, error) {
	tenantID := tenant.Of(ctx)
	out := make([]workplace, len(hires))
	paths, codes, days := make([]string, len(hires)), make([]string, len(hires)), make([]civil.Date, len(hires))
	wanted := false
	for i, in := range hires {
		path := levels(in)
		for k := len(path) - 1; k >= 0; k-- {
			out[i] = append(out[i], workLocation{name: path[k]})
		}
		day, err := civil.ParseDate(in.GetHireDate())
		if err != nil {
			day = n.reader.Today(ctx)
		}
		paths[i], codes[i], days[i] = strings.Join(path, "/"), in.GetLocationCode(), day.Clamp()
		wanted = wanted || in.GetResidentStateTotalAllowancesClaimedCurrencyAmount() != nil || in.GetWorkStateTotalAllowancesClaimedCurrencyAmount() != nil
	}
	if !wanted {
		return out, nil
	}
	known := map[int64]workplace{}
	var at int64
	var name string
	var body []byte
	if err := pg.ForEach(ctx, n.pool, []any{&at, &name, &body}, func() error {
		l := &commonsv1.Location{}
		if err := proto.Unmarshal(body, l); err != nil {
			return err
		}
		known[at] = append(known[at], workLocation{name: name, address: l.GetAddress()})
		return nil
	}, readPlaces, tenantID, paths, codes, days); err != nil {
		return nil, fmt.Errorf("find where new hires work: %w", err)
	}
	for i := range out {
		if structure := known[int64(i+1)]; structure != nil {
			// The code itself takes precedence over the ancestors of the location.
			out[i] = append(workplace{{name: codes[i]}}, structure...)
		}
	}
	return out, nil
}
