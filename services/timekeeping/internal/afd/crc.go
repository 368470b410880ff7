package afd

import "fmt"

// variant is a CRC-16 with a reflected polynomial.
type variant struct {
	name                string
	initial, polynomial uint16
}

// The CRC variants that clocks write. The layout requires KERMIT. Conventional clocks in the field
// write MODBUS.
var (
	kermit = variant{"CRC-16/KERMIT", 0, 0x8408}
	modbus = variant{"CRC-16/MODBUS", 0xFFFF, 0xA001}
)

// sum returns the checksum of bytes.
func (v variant) sum(data []byte) uint16 {
	sum := v.initial
	for _, b := range data {
		sum ^= uint16(b)
		for range 8 {
			if sum&1 != 0 {
				sum = sum>>1 ^ v.polynomial
			} else {
				sum >>= 1
			}
		}
	}
	return sum
}

// text returns the checksum of bytes in the form of the files.
func (v variant) text(data []byte) string { return fmt.Sprintf("%04X", v.sum(data)) }
