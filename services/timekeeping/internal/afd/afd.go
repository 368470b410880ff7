// Package afd parses and validates the export files of Brazilian time clocks (REP): the AFD of
// Portaria 671 of 2021. A file has lines of fixed length in ISO 8859-1 that end with CR LF: a
// header, records with ascending numbers (NSR), a trailer that counts them, and a line for the
// signature.
package afd

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is a kind of time clock.
type Kind string

// The kinds of time clocks: conventional, alternative, and software.
const (
	Conventional Kind = "REP-C"
	Alternative  Kind = "REP-A"
	Program      Kind = "REP-P"
)

// Code identifies the defect of a line.
type Code string

// The codes of defects.
const (
	// CodeEnding: the line does not end with CR LF.
	CodeEnding Code = "WRL-20621"
	// CodeEncoding: a byte is not a printable character of ISO 8859-1.
	CodeEncoding Code = "WRL-20622"
	// CodeLength: the line does not have the length of its type.
	CodeLength Code = "WRL-20623"
	// CodeType: the record type does not exist, or this kind of time clock does not have it.
	CodeType Code = "WRL-20624"
	// CodeOrder: lines of this type may not be at this position.
	CodeOrder Code = "WRL-20625"
	// CodeNumber: the record number does not follow the previous one.
	CodeNumber Code = "WRL-20626"
	// CodeField: a field does not have the required form.
	CodeField Code = "WRL-20627"
	// CodeChecksum: the CRC-16 does not match the line.
	CodeChecksum Code = "WRL-20628"
	// CodeCount: the counts of the trailer differ from the records of the file.
	CodeCount Code = "WRL-20629"
	// CodeDevice: the header names another time clock.
	CodeDevice Code = "WRL-20630"
)

// maxErrors is the maximum number of errors that are reported for a file.
const maxErrors = 1000

// Error is a defect of a line. Line numbers start at 1.
type Error struct {
	Line    int
	Code    Code
	Message string
}

// Punch is the punch of an employee.
type Punch struct {
	// Record is the record number (NSR).
	Record int64
	// CPF has 11 digits.
	CPF string
	// At has the UTC offset that the time clock wrote.
	At time.Time
}

// File is the parsed content of a file.
type File struct {
	Lines int
	// First and Last are the lowest and the highest record number; 0 without records.
	First, Last int64
	Punches     []Punch
	// Errors are sorted by line. There are at most 1,000.
	Errors []Error
}

// Device is the time clock that the file must come from.
type Device struct {
	Kind Kind
	// Serial has 17 characters.
	Serial string
}

// reader is the state of parsing one file.
type reader struct {
	*File
	device Device
	line   int
	// crc is the CRC variant of the file; the first line with a checksum determines it.
	crc     *variant
	counts  [8]int // records of the types 2 to 7
	trailed bool
	signed  bool
}

// Read parses a file of a device, and reports all its defects.
func Read(content []byte, device Device) *File {
	r := &reader{File: &File{}, device: device}
	for len(content) > 0 && len(r.Errors) < maxErrors {
		r.line++
		var line []byte
		line, content = r.next(content)
		r.read(line)
	}
	r.Lines = r.line
	r.line++
	switch {
	case r.line == 1:
		r.fail(CodeOrder, "The file is empty: it needs a header and a trailer.")
	case !r.trailed:
		r.fail(CodeOrder, "The trailer is missing.")
	}
	return r.File
}

func (r *reader) fail(code Code, format string, args ...any) {
	if len(r.Errors) < maxErrors {
		r.Errors = append(r.Errors, Error{r.line, code, fmt.Sprintf(format, args...)})
	}
}

// next splits the first line off the content.
func (r *reader) next(content []byte) (line, rest []byte) {
	end := bytes.IndexAny(content, "\r\n")
	switch {
	case end < 0 && r.trailed && r.device.Kind == Conventional:
		return content, nil // Some clocks do not terminate the line of their signature.
	case end < 0:
		r.fail(CodeEnding, "The line must end with CR LF.")
		return content, nil
	case bytes.HasPrefix(content[end:], []byte("\r\n")):
		return content[:end], content[end+2:]
	}
	r.fail(CodeEnding, "The line must end with CR LF, and lacks one of them.")
	return content[:end], content[end+1:]
}

// Lengths of the record types, including the checksum.
var lengths = map[byte]int{'1': 302, '2': 331, '3': 50, '4': 73, '5': 118, '6': 36, '7': 137, '9': 64}

const (
	headerNumber  = "000000000"
	trailerNumber = "999999999"
	signature     = "ASSINATURA_DIGITAL_EM_ARQUIVO_P7S"
	signatureLen  = 100
)

func (r *reader) read(line []byte) {
	for i, b := range line {
		if b < 0x20 || b >= 0x7f && b < 0xa0 {
			r.fail(CodeEncoding, "The character %d (0x%02X) is not printable in ISO 8859-1.", i+1, b)
			return
		}
	}
	switch {
	case r.signed:
		r.fail(CodeOrder, "No line may follow the line for the signature.")
	case r.trailed:
		r.signatureLine(line)
	case len(line) < 10:
		r.fail(CodeLength, "The line has %d characters: too few for a number and a type.", len(line))
	case bytes.HasPrefix(line, []byte(trailerNumber)):
		r.trailer(line)
	case (r.line == 1) != bytes.HasPrefix(line, []byte(headerNumber)):
		r.fail(CodeOrder, "The first line, and no other, is the header, with the number %s.", headerNumber)
	default:
		r.record(line)
	}
}

// checkLength checks that a line has the length of its type.
func (r *reader) checkLength(line []byte, kind byte) bool {
	if want := lengths[kind]; len(line) != want {
		r.fail(CodeLength, "The line has %d characters, and one of type %c must have %d.", len(line), kind, want)
		return false
	}
	return true
}

// record parses the header, or a record of the types 2 to 7.
func (r *reader) record(line []byte) {
	kind := line[9]
	if r.line == 1 {
		if kind != '1' {
			r.fail(CodeType, "The header must have the type 1, and has %q.", kind)
			return
		}
	} else {
		r.number(line)
		if kind < '2' || kind > '7' {
			r.fail(CodeType, "There is no type %q of records.", kind)
			return
		}
		r.counts[kind-'0']++
		if (kind == '7') != (r.device.Kind == Program) && (kind == '3' || kind == '7') {
			r.fail(CodeType, "A %s makes no records of type %c.", r.device.Kind, kind)
		}
	}
	if !r.checkLength(line, kind) {
		return
	}
	if kind < '6' {
		r.checksum(line[:len(line)-4], string(line[len(line)-4:]))
	}
	r.fields(line, kind)
}

// checksum verifies the checksum of a line. A conventional clock writes one of two variants, and
// uses the same one in all lines. Other clocks write KERMIT.
func (r *reader) checksum(body []byte, sum string) {
	if r.crc == nil {
		r.crc = &kermit
		if r.device.Kind == Conventional && !strings.EqualFold(sum, kermit.text(body)) {
			r.crc = &modbus
		}
	}
	if want := r.crc.text(body); !strings.EqualFold(sum, want) {
		r.fail(CodeChecksum, "The %s is %s, and must be %s.", r.crc.name, sum, want)
	}
}

// signatureLine parses the line after the trailer. A conventional clock signs the file in this
// line, in a format of its manufacturer. Other clocks write a fixed text, and sign in a separate
// file.
func (r *reader) signatureLine(line []byte) {
	own := r.device.Kind == Conventional && !isRecord(line)
	switch {
	case !own && !bytes.HasPrefix(line, []byte(signature)):
		r.fail(CodeOrder, "Only one line for the signature may follow the trailer.")
	case own && len(line) > 0:
	case len(line) != signatureLen:
		r.fail(CodeLength, "The line for the signature has %d characters, and must have %d.", len(line), signatureLen)
	}
	r.signed = true
}

// isRecord reports whether a line begins with a number and a type, and has the length of that type.
func isRecord(line []byte) bool {
	return len(line) >= 10 && digits(string(line[:10])) && len(line) == lengths[line[9]]
}

// number checks that the record number follows the previous one.
func (r *reader) number(line []byte) {
	text := string(line[:9])
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strings.ContainsAny(text, "+-") {
		r.fail(CodeNumber, "The number of the record must have 9 digits, and is %q.", text)
		return
	}
	if r.Last != 0 && number != r.Last+1 {
		r.fail(CodeNumber, "The number of the record is %d, and %d must follow %d.", number, r.Last+1, r.Last)
	}
	if r.First == 0 {
		r.First = number
	}
	r.Last = number
}

func (r *reader) trailer(line []byte) {
	r.trailed = true
	if r.line == 1 {
		r.fail(CodeOrder, "The header is missing.")
	}
	if !r.checkLength(line, '9') {
		return
	}
	if line[63] != '9' {
		r.fail(CodeType, "The trailer must end with the type 9, and ends with %q.", line[63])
	}
	for kind := 2; kind <= 7; kind++ {
		text := string(line[9*(kind-1) : 9*kind])
		if counted, err := strconv.Atoi(text); err != nil || counted != r.counts[kind] {
			r.fail(CodeCount, "The trailer counts %s records of type %d, and there are %d.", text, kind, r.counts[kind])
		}
	}
}
