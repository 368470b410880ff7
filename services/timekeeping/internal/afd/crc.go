package afd

import "fmt"

// crc is the CRC-16/KERMIT of bytes: polynomial 0x1021, reflected, from 0.
func crc(data []byte) uint16 {
	var sum uint16
	for _, b := range data {
		sum ^= uint16(b)
		for range 8 {
			if sum&1 != 0 {
				sum = sum>>1 ^ 0x8408
			} else {
				sum >>= 1
			}
		}
	}
	return sum
}

func crcText(data []byte) string { return fmt.Sprintf("%04X", crc(data)) }
