package afd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const serial = "00000000000012345"

// addChecksum adds the checksum of a conventional clock to a line.
func addChecksum(line string) string { return line + modbus.text([]byte(line)) }

// summedByKermit adds the checksum of the other kinds.
func summedByKermit(line string) string { return line + kermit.text([]byte(line)) }

func header() string {
	return addChecksum(fmt.Sprintf("00000000011%s%14s%-150s%s2026-07-012026-07-312026-08-01T09:00:00-0300003112ABC34501DE35%-30s",
		"11222333000181", "", "Padaria S\xe3o Jo\xe3o", serial, "Modelo"))
}

func punch(number int, time string) string {
	return addChecksum(fmt.Sprintf("%09d3%s%s", number, time, "012345678909"))
}

func programPunch(number int, time string) string {
	return fmt.Sprintf("%09d7%s%s%s010%s", number, time, "012345678909", time, strings.Repeat("a", 64))
}

func trailer(counts ...int) string {
	var text strings.Builder
	text.WriteString(trailerNumber)
	for kind := range 6 {
		n := 0
		if kind < len(counts) {
			n = counts[kind]
		}
		fmt.Fprintf(&text, "%09d", n)
	}
	return text.String() + "9"
}

func file(lines ...string) []byte { return []byte(strings.Join(lines, "\r\n") + "\r\n") }

const eight, five = "2026-07-01T08:00:00-0300", "2026-07-01T17:00:00-0300"

func clock() Device { return Device{Conventional, serial} }

func TestChecksums(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "2189", kermit.text([]byte("123456789")))
	assert.Equal(t, "0000", kermit.text(nil))
	assert.Equal(t, "4B37", modbus.text([]byte("123456789")))
}

func TestFilesOfRealClocks(t *testing.T) {
	t.Parallel()
	const own = "MEUCIQDx8vJ0Qm9n1k2PbS5rT7uVwXyZ0123456789abcdefIgYQ=="
	punchOf := func(cpf string) string { return fmt.Sprintf("%09d3%s%12s", 1, eight, cpf) }
	employer := func(kind, id string) string {
		return header()[:10] + kind + fmt.Sprintf("%-14s", id) + header()[25:298]
	}
	for _, c := range []struct {
		name    string
		content []byte
		device  Device
	}{
		{"MODBUS of a REP-C", file(header(), addChecksum(punchOf("012345678909")), trailer(0, 1)), clock()},
		{"KERMIT of a REP-C", file(summedByKermit(header()[:298]), summedByKermit(punchOf("012345678909")), trailer(0, 1)), clock()},
		{"KERMIT of a REP-A", file(summedByKermit(header()[:298]), summedByKermit(punchOf("012345678909")), trailer(0, 1)), Device{Alternative, serial}},
		{"a CPF with a space behind it", file(header(), addChecksum(punchOf("12345678909 ")), trailer(0, 1)), clock()},
		{"a CPF with a space in front", file(header(), addChecksum(punchOf(" 12345678909")), trailer(0, 1)), clock()},
		{"an employer with a CPF and spaces behind it", file(addChecksum(employer("2", "12345678909")), addChecksum(punchOf("012345678909")), trailer(0, 1)), clock()},
		{"an employer with a CPF and spaces in front", file(addChecksum(employer("2", "   12345678909")), addChecksum(punchOf("012345678909")), trailer(0, 1)), clock()},
		{"an employer with a CPF and zeros in front", file(addChecksum(employer("2", "00012345678909")), addChecksum(punchOf("012345678909")), trailer(0, 1)), clock()},
		{"the signature line of a REP-C", file(header(), addChecksum(punchOf("012345678909")), trailer(0, 1), own), clock()},
		{"the signature line of a REP-C without an end", []byte(strings.TrimSuffix(string(file(header(), addChecksum(punchOf("012345678909")), trailer(0, 1), own)), "\r\n")), clock()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := Read(c.content, c.device)
			require.Empty(t, f.Errors)
			require.Len(t, f.Punches, 1)
			assert.Equal(t, "12345678909", f.Punches[0].CPF)
		})
	}
	for _, c := range []struct {
		name    string
		content []byte
		device  Device
		line    int
		code    Code
	}{
		{"MODBUS of a REP-A", file(header(), trailer()), Device{Alternative, serial}, 1, CodeChecksum},
		{"two variants in one file", file(header(), summedByKermit(punchOf("012345678909")), trailer(0, 1)), clock(), 2, CodeChecksum},
		{"a CPF of ten digits", file(header(), addChecksum(punchOf("1234567890  ")), trailer(0, 1)), clock(), 2, CodeField},
		{"a CPF of twelve digits", file(header(), addChecksum(punchOf("112345678909")), trailer(0, 1)), clock(), 2, CodeField},
		{"a CPF with a space in it", file(header(), addChecksum(punchOf("12345 678909")), trailer(0, 1)), clock(), 2, CodeField},
		{"an employer with a CNPJ as a CPF", file(addChecksum(employer("2", "11222333000181")), trailer()), clock(), 1, CodeField},
		{"an employer with a CPF as a CNPJ", file(addChecksum(employer("1", "12345678909")), trailer()), clock(), 1, CodeField},
		{"another signature line of a REP-A", file(summedByKermit(header()[:298]), trailer(), own), Device{Alternative, serial}, 3, CodeOrder},
		{"an empty signature line", file(header(), trailer(), ""), clock(), 3, CodeLength},
		{"a line behind the signature", file(header(), trailer(), own, own), clock(), 4, CodeOrder},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := Read(c.content, c.device)
			require.NotEmpty(t, f.Errors)
			assert.Equal(t, c.line, f.Errors[0].Line, "%v", f.Errors)
			assert.Equal(t, c.code, f.Errors[0].Code, "%v", f.Errors)
		})
	}
}

func TestAWholeFile(t *testing.T) {
	t.Parallel()
	f := Read(file(
		header(),
		addChecksum(fmt.Sprintf("0000000412%s00012345678909111222333000181%14s%-150s%-100s", eight, "", "Padaria", "Campinas")),
		addChecksum("0000000425"+eight+"I012345678909"+fmt.Sprintf("%-52s", "Jo\xe3o")+"    "+"12345678909"),
		punch(43, eight), punch(44, five),
		addChecksum("0000000454"+eight+five+"12345678909"),
		"0000000466"+eight+"02",
		trailer(1, 2, 1, 1, 1, 0),
		fmt.Sprintf("%-100s", signature),
	), clock())
	require.Empty(t, f.Errors)
	assert.Equal(t, 9, f.Lines)
	assert.EqualValues(t, 41, f.First)
	assert.EqualValues(t, 46, f.Last)
	require.Len(t, f.Punches, 2)
	assert.EqualValues(t, 43, f.Punches[0].Record)
	assert.Equal(t, "12345678909", f.Punches[0].CPF)
	assert.Equal(t, "2026-07-01T11:00:00Z", f.Punches[0].At.UTC().Format("2006-01-02T15:04:05Z07:00"))

	program := Read(file(summedByKermit(header()[:298]), programPunch(1, eight), trailer(0, 0, 0, 0, 0, 1)), Device{Program, serial})
	require.Empty(t, program.Errors)
	assert.Len(t, program.Punches, 1)
}

func TestErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	broken := punch(2, five)
	broken = broken[:20] + "9" + broken[21:]
	tests := []struct {
		name    string
		content []byte
		device  Device
		line    int
		code    Code
	}{
		{"nothing", nil, clock(), 1, CodeOrder},
		{"lines that end with LF", []byte(header() + "\n" + trailer() + "\r\n"), clock(), 1, CodeEnding},
		{"a last line without an end", []byte(header() + "\r\n" + trailer()), clock(), 2, CodeEnding},
		{"a control character", file(header(), "0000000013\x00"), clock(), 2, CodeEncoding},
		{"a character of another code page", file(header(), "0000000013\x93"), clock(), 2, CodeEncoding},
		{"a name in UTF-8", file(strings.Replace(header(), "S\xe3o", "S\u00e3o", 1), trailer()), clock(), 1, CodeLength},
		{"no header", file(punch(1, eight), trailer(0, 1)), clock(), 1, CodeOrder},
		{"a second header", file(header(), header(), trailer()), clock(), 2, CodeOrder},
		{"a line of nothing", file(header(), "", trailer()), clock(), 2, CodeLength},
		{"an unknown type", file(header(), "0000000018", trailer()), clock(), 2, CodeType},
		{"a short record", file(header(), punch(1, eight)[:49], trailer(0, 1)), clock(), 2, CodeLength},
		{"a number that comes again", file(header(), punch(1, eight), punch(1, five), trailer(0, 2)), clock(), 3, CodeNumber},
		{"a number that is left out", file(header(), punch(1, eight), punch(3, five), trailer(0, 2)), clock(), 3, CodeNumber},
		{"a number that is none", file(header(), "+"+punch(1, eight)[1:], trailer(0, 1)), clock(), 2, CodeNumber},
		{"a record that was changed", file(header(), punch(1, eight), broken, trailer(0, 2)), clock(), 3, CodeChecksum},
		{"a day that is none", file(header(), punch(1, "2026-02-30T08:00:00-0300"), trailer(0, 1)), clock(), 2, CodeField},
		{"a punch of a program on a clock", file(header(), programPunch(1, eight), trailer(0, 0, 0, 0, 0, 1)), clock(), 2, CodeType},
		{"a punch of a clock in a program", file(summedByKermit(header()[:298]), punch(1, eight), trailer(0, 1)), Device{Program, serial}, 2, CodeType},
		{"another clock", file(header(), trailer()), Device{Conventional, "00000000000099999"}, 1, CodeDevice},
		{"a trailer that counts wrongly", file(header(), punch(1, eight), trailer(0, 2)), clock(), 3, CodeCount},
		{"a trailer that has no end", file(header(), trailer()[:63]+"8"), clock(), 2, CodeType},
		{"no trailer", file(header(), punch(1, eight)), clock(), 3, CodeOrder},
		{"a record behind the trailer", file(summedByKermit(header()[:298]), trailer(), punch(1, eight)), Device{Alternative, serial}, 3, CodeOrder},
		{"a record behind the trailer of a conventional clock", file(header(), trailer(), punch(1, eight)), clock(), 3, CodeOrder},
		{"a short line for the signature", file(summedByKermit(header()[:298]), trailer(), signature), Device{Alternative, serial}, 3, CodeLength},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := Read(test.content, test.device)
			require.NotEmpty(t, f.Errors)
			assert.Equal(t, test.line, f.Errors[0].Line, "%v", f.Errors)
			assert.Equal(t, test.code, f.Errors[0].Code, "%v", f.Errors)
			assert.NotEmpty(t, f.Errors[0].Message)
		})
	}
}

func TestErrorsAreBounded(t *testing.T) {
	t.Parallel()
	f := Read([]byte(strings.Repeat("x\r\n", 5000)), clock())
	assert.Len(t, f.Errors, maxErrors)
}

// Reading ends for any content of a file. A changed byte of a complete file is found if a checksum
// or a format covers it.
func TestAnyContentIsRead(t *testing.T) {
	t.Parallel()
	whole := file(header(), punch(7, eight), punch(8, five), trailer(0, 2))
	require.Empty(t, Read(whole, clock()).Errors)
	rapid.Check(t, func(t *rapid.T) {
		Read(rapid.SliceOfN(rapid.Byte(), 0, 600).Draw(t, "content"), clock())
		changed := append([]byte(nil), whole...)
		i := rapid.IntRange(0, len(changed)-1).Draw(t, "position")
		changed[i] ^= byte(1 << rapid.IntRange(0, 7).Draw(t, "bit"))
		// A checksum in small letters is the same one.
		if strings.EqualFold(string(changed), string(whole)) && changed[i] != whole[i] {
			return
		}
		if len(Read(changed, clock()).Errors) == 0 {
			t.Fatalf("a change of byte %d was not found", i)
		}
	})
}
