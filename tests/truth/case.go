// Package truth compares the product with published worked examples. It uses only the public API.
// The examples are data in testdata, and docs/truth.md lists them with their results.
package truth

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed testdata
var testdata embed.FS

// Results of a case.
const (
	Hit          = "hit"
	Miss         = "miss"
	NotSupported = "not supported"
)

// Case is a published example. It has exactly one kind of input, unless the product does not
// support it.
type Case struct {
	Name string `yaml:"name"`
	// Source names the publisher of the example, and Statement is its content.
	Source    string `yaml:"source"`
	Statement string `yaml:"statement"`
	// Result is Hit, Miss or NotSupported. The last two need a reason.
	Result string `yaml:"result"`
	Reason string `yaml:"reason"`
	// Got is the product's result in a miss.
	Got string `yaml:"got"`

	Work     *Work     `yaml:"work"`
	Rounding *Rounding `yaml:"rounding"`
	Rotation *Rotation `yaml:"rotation"`
	Rest     *Rest     `yaml:"rest"`
	Holiday  *Holiday  `yaml:"holiday"`
	AFD      *AFD      `yaml:"afd"`
}

// Work is the work of one employee, and the expected pay.
type Work struct {
	// Zone is the employee's time zone, UTC by default.
	Zone string `yaml:"zone"`
	// Wage is the hourly wage, and Wages the hourly wages in jobs.
	Wage  float64            `yaml:"wage"`
	Wages map[string]float64 `yaml:"wages"`
	// Rule is a version of a pay rule, in the form of the API.
	Rule map[string]any `yaml:"rule"`
	// Shifts have the form "2026-03-02 08:00-12:00", with an optional job at the end. A shift that
	// ends earlier than it begins ends on the next day.
	Shifts []string `yaml:"shifts"`
	// Schedule holds the scheduled shifts, and Touches single punches in addition to the shifts.
	Schedule []string `yaml:"schedule"`
	Touches  []string `yaml:"touches"`
	// Money holds amounts by pay code, which the employee gets on the first day.
	Money map[string]float64 `yaml:"money"`
	// Holidays are the days with a holiday.
	Holidays []string `yaml:"holidays"`
	// From and To are the days to read. By default they are the days of the shifts.
	From string `yaml:"from"`
	To   string `yaml:"to"`

	Expect struct {
		// Hours are the hours of each pay code, and Days the same by day.
		Hours map[string]float64            `yaml:"hours"`
		Days  map[string]map[string]float64 `yaml:"days"`
		// Pay is the sum of all wages, and HourPay the hourly wage under each pay code.
		Pay     *float64           `yaml:"pay"`
		HourPay map[string]float64 `yaml:"hourPay"`
		// Shifts and Punches are the numbers of shifts and punches on the timecard, and Exceptions
		// its exceptions, in the form "2026-03-02 LATE_IN".
		Shifts     int      `yaml:"shifts"`
		Punches    int      `yaml:"punches"`
		Exceptions []string `yaml:"exceptions"`
	} `yaml:"expect"`
}

// Rounding is a property: for punches at each minute of an interval, as many minutes are paid as
// were worked.
type Rounding struct {
	Interval int `yaml:"interval"`
	Grace    int `yaml:"grace"`
}

// Rotation is a pattern of shifts for several teams.
type Rotation struct {
	// Shifts have the form "07:00-19:00", by letter, and Cycle the form "N4 -3 D3": a letter, or
	// "-" for days off, and the number of days.
	Shifts map[string]string `yaml:"shifts"`
	Cycle  string            `yaml:"cycle"`
	From   string            `yaml:"from"`
	// Teams holds the number of days by which each team's rotation began earlier.
	Teams  []int `yaml:"teams"`
	Expect struct {
		Days  int     `yaml:"days"`
		Hours float64 `yaml:"hours"`
		// Week is the average number of hours a week, with two decimals.
		Week float64 `yaml:"week"`
		// Daily is the number of teams on each shift on each day; empty if the source does not
		// state it.
		Daily map[string]int `yaml:"daily"`
	} `yaml:"expect"`
}

// Rest is a schedule for the evaluation of rules about rest and hours.
type Rest struct {
	Zone string `yaml:"zone"`
	// Rules are limits by the name of the rule.
	Rules map[string]float64 `yaml:"rules"`
	// Shifts have the form of Work.Shifts.
	Shifts []string `yaml:"shifts"`
	From   string   `yaml:"from"`
	To     string   `yaml:"to"`
	// Violations have the form "ERULE_MIN_REST_SHIFTS 2026-03-29 10".
	Violations []string `yaml:"violations"`
}

// Holiday is a public holiday of a region in a year.
type Holiday struct {
	Region string `yaml:"region"`
	Year   int    `yaml:"year"`
	// Observed requests observed dates or calendar dates; the default is the product's default.
	Observed *bool `yaml:"observed"`
	// Dates must be among the holidays, and the dates in Without must not.
	Dates   []string `yaml:"dates"`
	Without []string `yaml:"without"`
}

// AFD is a file of a Brazilian time clock.
type AFD struct {
	// Clock is REP-C, REP-A or REP-P.
	Clock string `yaml:"clock"`
	// CRC is the CRC variant of the clock: KERMIT or MODBUS.
	CRC string `yaml:"crc"`
	// Check is the checksum of "123456789" in that variant.
	Check string `yaml:"check"`
	// Employer and CPF are fields in the clock's format, with 15 and 12 characters.
	Employer string `yaml:"employer"`
	CPF      string `yaml:"cpf"`
	// Signature is the last line; empty if there is none.
	Signature string `yaml:"signature"`
	// Swap exchanges the two punches of the file.
	Swap   bool `yaml:"swap"`
	Expect struct {
		Accepted bool `yaml:"accepted"`
		// CPF identifies the employee of the punches.
		CPF string `yaml:"cpf"`
	} `yaml:"expect"`
}

// Accrual is an employee with an accrual profile of one policy.
type Accrual struct {
	// Unit is the unit of the accrual code, HOUR by default; a day has eight hours.
	Unit   string         `yaml:"unit"`
	Policy map[string]any `yaml:"policy"`
	// Since is the day of hire and the first day of the profile. The employment ends on Left, and
	// begins again on Back.
	Since string `yaml:"since"`
	Left  string `yaml:"left"`
	Back  string `yaml:"back"`
	// Shifts have the form of Work.Shifts, and Taken are hours of leave by day.
	Shifts []string           `yaml:"shifts"`
	Taken  map[string]float64 `yaml:"taken"`
	// Balances are the balances at the end of days, in the unit.
	Balances map[string]float64 `yaml:"balances"`
}

// Setting is an example of a setting on a page. Setting.Setting is the first cell of its row.
type Setting struct {
	Setting string   `yaml:"setting"`
	Work    *Work    `yaml:"work"`
	Accrual *Accrual `yaml:"accrual"`
}

// LoadSettings reads the examples of docs/pay-rules.md.
func LoadSettings() ([]Setting, error) { return loadExamples("pay-rules") }

// LoadAccruals reads the examples of docs/accruals.md.
func LoadAccruals() ([]Setting, error) { return loadExamples("accruals") }

func loadExamples(page string) ([]Setting, error) {
	var list []Setting
	err := decode("testdata/settings/"+page+".yaml", &list)
	return list, err
}

func decode(name string, list any) error {
	data, err := testdata.ReadFile(name)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(list); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Load reads the cases, file by file.
func Load() ([]Case, error) {
	names, err := fs.Glob(testdata, "testdata/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []Case
	seen := map[string]bool{}
	for _, name := range names {
		var list []Case
		if err := decode(name, &list); err != nil {
			return nil, err
		}
		for _, c := range list {
			if err := c.check(); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, c.Name, err)
			}
			if seen[c.Name] {
				return nil, fmt.Errorf("%s: the name %s is used twice", name, c.Name)
			}
			seen[c.Name] = true
			all = append(all, c)
		}
	}
	return all, nil
}

func (c *Case) check() error {
	inputs := 0
	for _, given := range []bool{c.Work != nil, c.Rounding != nil, c.Rotation != nil, c.Rest != nil, c.Holiday != nil, c.AFD != nil} {
		if given {
			inputs++
		}
	}
	switch {
	case c.Name == "" || c.Source == "" || c.Statement == "":
		return fmt.Errorf("it needs a name, a source and a statement")
	case strings.ContainsAny(c.Source+c.Statement+c.Reason+c.Got, "|\n"):
		return fmt.Errorf("its texts must be one line without a bar")
	case c.Result == Hit && (inputs != 1 || c.Reason != "" || c.Got != ""):
		return fmt.Errorf("a hit has one input and no reason")
	case c.Result == Miss && (inputs != 1 || c.Reason == "" || c.Got == ""):
		return fmt.Errorf("a miss has one input, a reason and the value that the product returns")
	case c.Result == NotSupported && (inputs != 0 || c.Reason == "" || c.Got != ""):
		return fmt.Errorf("a case that is not supported has a reason only")
	case c.Result != Hit && c.Result != Miss && c.Result != NotSupported:
		return fmt.Errorf("its result must be %s, %s or %s", Hit, Miss, NotSupported)
	}
	return nil
}
