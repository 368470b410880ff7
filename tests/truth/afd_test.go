package truth

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// crc16 returns a CRC-16 with a reflected polynomial.
func crc16(text string, sum, polynomial uint16) string {
	for i := range len(text) {
		sum ^= uint16(text[i])
		for range 8 {
			if sum&1 != 0 {
				sum = sum>>1 ^ polynomial
			} else {
				sum >>= 1
			}
		}
	}
	return fmt.Sprintf("%04X", sum)
}

func (a *AFD) checksum(text string) string {
	if a.CRC == "MODBUS" {
		return crc16(text, 0xFFFF, 0xA001)
	}
	return crc16(text, 0, 0x8408)
}

var serials atomic.Int64

// file returns a file with a header, two punches, a trailer and a signature.
func (a *AFD) file(serial string) string {
	sum := func(line string) string { return line + a.checksum(line) }
	header := sum(fmt.Sprintf("0000000001%s%14s%-150s%s2026-07-012026-07-312026-08-01T09:00:00-0300003112ABC34501DE35%-30s",
		a.Employer, "", "Padaria S\xe3o Jo\xe3o", serial, "Modelo"))
	lines := []string{header}
	numbers, program := []int{1, 2}, a.Clock == "REP-P"
	if a.Swap {
		numbers = []int{2, 1}
	}
	for i, number := range numbers {
		at := []string{"2026-07-01T08:00:00-0300", "2026-07-01T17:00:00-0300"}[i]
		if program {
			lines = append(lines, fmt.Sprintf("%09d7%s%s%s010%s", number, at, a.CPF, at, strings.Repeat("a", 64)))
			continue
		}
		lines = append(lines, sum(fmt.Sprintf("%09d3%s%s", number, at, a.CPF)))
	}
	counts := []int{0, 2, 0, 0, 0, 0}
	if program {
		counts = []int{0, 0, 0, 0, 0, 2}
	}
	trailer := "999999999"
	for _, n := range counts {
		trailer += fmt.Sprintf("%09d", n)
	}
	lines = append(lines, trailer+"9")
	if a.Signature != "" {
		lines = append(lines, a.Signature)
	}
	return strings.Join(lines, "\r\n") + "\r\n"
}

// runAFD sends the file of a clock.
func (s *suite) runAFD(ctx context.Context, a *AFD) error {
	if got := a.checksum("123456789"); a.Check != "" && got != a.Check {
		return fmt.Errorf("the checksum of 123456789 is %s instead of %s", got, a.Check)
	}
	serial := strconv.FormatInt(90_000+serials.Add(1), 10)
	var device struct{ ID int64 }
	body := scenario.Object{"name": scenario.Unique("clock"), "type": a.Clock, "serialNumber": serial}
	if _, err := s.api.Call(ctx, http.MethodPost, "/v1/timekeeping/brazil_compliance/devices", body, &device); err != nil {
		return err
	}
	var reply struct {
		Accepted bool
		Errors   []struct{ Message string }
		Punches  []struct{ CPF string }
	}
	content := base64.StdEncoding.EncodeToString([]byte(a.file(fmt.Sprintf("%017s", serial))))
	path := fmt.Sprintf("/v1/timekeeping/brazil_compliance/devices/%d/afd_files", device.ID)
	if _, err := s.api.Call(ctx, http.MethodPost, path, scenario.Object{"name": "AFD.txt", "content": content}, &reply); err != nil {
		return err
	}
	if reply.Accepted != a.Expect.Accepted {
		return fmt.Errorf("accepted is %v, with %+v", reply.Accepted, reply.Errors)
	}
	if !a.Expect.Accepted {
		return nil
	}
	for _, p := range reply.Punches {
		if p.CPF != a.Expect.CPF {
			return fmt.Errorf("a punch is of %q instead of %q", p.CPF, a.Expect.CPF)
		}
	}
	return nil
}
