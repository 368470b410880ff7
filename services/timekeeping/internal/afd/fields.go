package afd

import (
	"strings"
	"time"
)

// Formats of dates and times.
const (
	day     = "2006-01-02"
	instant = "2006-01-02T15:04:05-0700"
)

// field is a part of a line. Positions start at 1, as in the layout of the law.
type field struct {
	name    string
	at, len int
	is      func(text string) bool
	form    string
}

func digits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// digitsOrNothing accepts digits or an empty field.
func digitsOrNothing(text string) bool { return digits(strings.TrimRight(text, " ")) }

func parses(layout string) func(string) bool {
	return func(text string) bool {
		_, err := time.Parse(layout, text)
		return err == nil
	}
}

func matchAny(known ...string) func(string) bool {
	return func(text string) bool {
		for _, k := range known {
			if text == k {
				return true
			}
		}
		return false
	}
}

// document accepts a CNPJ or a CPF. Since July 2026 a CNPJ may contain letters. A CPF may be padded
// with zeros or spaces.
func document(text string) bool {
	return extractCPF(text) != "" || strings.Trim(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && digits(text[len(text)-2:])
}

// lenCPF is the length of a CPF.
const lenCPF = 11

// extractCPF extracts the CPF from a longer field: 11 digits with leading zeros or spaces, or with
// trailing spaces. It returns "" if the field has another form.
func extractCPF(text string) string {
	cpf := strings.TrimRight(text, " ")
	if len(cpf) > lenCPF {
		padding := cpf[:len(cpf)-lenCPF]
		if strings.Trim(padding, "0") != "" && strings.Trim(padding, " ") != "" {
			return ""
		}
		cpf = cpf[len(padding):]
	}
	if len(cpf) != lenCPF || !digits(cpf) {
		return ""
	}
	return cpf
}

func cpf(name string, at, length int) field {
	return field{name, at, length, func(text string) bool { return extractCPF(text) != "" }, "a CPF, with zeros or spaces in front or spaces behind"}
}

// identifies reports whether an identifier matches its type: 1 for a CNPJ, 2 for a CPF.
func identifies(kind byte, text string) bool { return (kind == '2') == (extractCPF(text) != "") }

func hexadecimal(text string) bool { return strings.Trim(text, "0123456789abcdefABCDEF") == "" }

func number(name string, at, length int) field {
	return field{name, at, length, digits, "digits"}
}

func at(name string, position int) field {
	return field{name, position, 24, parses(instant), "as 2026-12-31T08:00:00-0300"}
}

func on(name string, position int) field {
	return field{name, position, 10, parses(day), "as 2026-12-31"}
}

// layout lists the fields with a required form, by record type.
var layout = map[byte][]field{
	'1': {
		{"the type of the employer's identifier", 11, 1, matchAny("1", "2"), "1 (CNPJ) or 2 (CPF)"},
		{"the employer's identifier", 12, 14, document, "a CNPJ, or a CPF with zeros or spaces"},
		{"the CNO or CAEPF", 26, 14, digitsOrNothing, "digits, or nothing"},
		on("the first day", 207), on("the last day", 217), at("the time of generation", 227),
		{"the version of the layout", 251, 3, digits, "digits"},
		{"the type of the maker's identifier", 254, 1, matchAny("1", "2"), "1 (CNPJ) or 2 (CPF)"},
		{"the maker's identifier", 255, 14, document, "a CNPJ, or a CPF with zeros or spaces"},
	},
	'2': {
		at("the time of recording", 11), cpf("the CPF of who changed it", 35, 14),
		{"the type of the employer's identifier", 49, 1, matchAny("1", "2"), "1 (CNPJ) or 2 (CPF)"},
		{"the employer's identifier", 50, 14, document, "a CNPJ, or a CPF with zeros or spaces"},
		{"the CNO or CAEPF", 64, 14, digitsOrNothing, "digits, or nothing"},
	},
	'3': {at("the time of the punch", 11), cpf("the employee's CPF", 35, 12)},
	'4': {at("the time before", 11), at("the time after", 35), cpf("the CPF of who changed it", 59, 11)},
	'5': {
		at("the time of recording", 11),
		{"the operation", 35, 1, matchAny("I", "A", "E"), "I, A or E"},
		cpf("the employee's CPF", 36, 12), cpf("the CPF of who changed it", 104, 11),
	},
	'6': {at("the time of recording", 11), number("the event", 35, 2)},
	'7': {
		at("the time of the punch", 11), cpf("the employee's CPF", 35, 12), at("the time of recording", 47),
		number("the collector", 71, 2),
		{"whether it was made offline", 73, 1, matchAny("0", "1"), "0 or 1"},
		{"the SHA-256", 74, 64, hexadecimal, "64 hexadecimal digits"},
	},
}

// identifiers are the positions of the employer's identifier, by record type. Its own type is in
// the byte before it.
var identifiers = map[byte]int{'1': 12, '2': 50}

// fields checks the fields of a line that has the length of its type, and stores the punch if the
// line is one.
func (r *reader) fields(line []byte, kind byte) {
	good := true
	for _, f := range layout[kind] {
		if text := string(line[f.at-1 : f.at-1+f.len]); !f.is(text) {
			r.fail(CodeField, "%s (%d to %d) must be %s, and is %q.", strings.ToUpper(f.name[:1])+f.name[1:], f.at, f.at+f.len-1, f.form, text)
			good = false
		}
	}
	if at, ok := identifiers[kind]; ok && good && !identifies(line[at-2], string(line[at-1:at+13])) {
		r.fail(CodeField, "The employer's identifier (%d to %d) must be of the type in front of it, and is %q.", at, at+13, line[at-1:at+13])
		good = false
	}
	switch {
	case !good:
	case kind == '1':
		r.header(line)
	case kind == '3' || kind == '7':
		// The field was validated before, so the error is nil.
		made, _ := time.Parse(instant, string(line[10:34]))
		r.Punches = append(r.Punches, Punch{Record: r.Last, CPF: extractCPF(string(line[34:46])), At: made})
	}
}

func (r *reader) header(line []byte) {
	if serial := string(line[189:206]); serial != r.device.Serial {
		r.fail(CodeDevice, "The file belongs to the time clock %q, not to %q.", serial, r.device.Serial)
	}
	if first, last := string(line[206:216]), string(line[216:226]); first > last {
		r.fail(CodeField, "The first day %s is after the last day %s.", first, last)
	}
}
