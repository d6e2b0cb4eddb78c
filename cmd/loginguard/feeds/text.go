package feeds

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
)

// maxLine bounds a line, in bytes.
const maxLine = 64 << 10

// eachLine calls f for every line that has something but blanks and comments,
// which begin with one of the signs.
func eachLine(data []byte, comments string, k *keeper, f func(at, text string)) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for i := 1; len(data) > 0; i++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		at := fmt.Sprintf("line %d", i)
		if len(line) > maxLine {
			k.fault(at, "is longer than %d bytes", maxLine)
			continue
		}
		text := string(line)
		if n := strings.IndexAny(text, comments); n >= 0 {
			text = text[:n]
		}
		if text = strings.Trim(text, " \t\r"); text != "" {
			f(at, text)
		}
	}
}

// parsePlain reads one block or address a line. FireHOL's netsets and ipsets
// have comments behind #, Spamhaus' DROP behind ;.
func parsePlain(data []byte, k *keeper) { eachLine(data, "#;", k, k.block) }

// parseCloudflare reads https://www.cloudflare.com/ips-v4 and ips-v6, one block
// a line, or what https://api.cloudflare.com/client/v4/ips answers.
func parseCloudflare(data []byte, k *keeper) {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n\ufeff"), []byte("{")) {
		eachLine(data, "#", k, k.block)
		return
	}
	var doc struct {
		Success *bool `json:"success"`
		Result  struct {
			IPv4 *[]string `json:"ipv4_cidrs"`
			IPv6 *[]string `json:"ipv6_cidrs"`
		} `json:"result"`
	}
	if !decode(data, &doc, k) {
		return
	}
	if doc.Success != nil && !*doc.Success {
		k.fault("success", "is false: this is an error, not a list")
		return
	}
	for _, list := range []struct {
		name   string
		blocks *[]string
	}{{"ipv4_cidrs", doc.Result.IPv4}, {"ipv6_cidrs", doc.Result.IPv6}} {
		if list.blocks == nil {
			k.needed("result."+list.name, "the answer of Cloudflare's API")
			continue
		}
		for i, text := range *list.blocks {
			k.block(fmt.Sprintf("result.%s[%d]", list.name, i), text)
		}
	}
}

// torWords begin the lines of an exit list that name no address (TorDNSEL Exit
// List Format; the first two only in the archives of CollecTor).
var torWords = map[string]bool{"@type": true, "Downloaded": true, "ExitNode": true, "Published": true, "LastStatus": true}

// parseTor reads https://check.torproject.org/torbulkexitlist, one address a
// line, or https://check.torproject.org/exit-addresses, in which lines such as
// "ExitAddress 192.0.2.1 2026-01-31 12:00:00" name them.
func parseTor(data []byte, k *keeper) {
	eachLine(data, "#", k, func(at, text string) {
		words := strings.Fields(text)
		switch {
		case torWords[words[0]]:
			return
		case words[0] == "ExitAddress":
			if len(words) != 4 {
				k.fault(at, "want ExitAddress, an address, a date and a time")
				return
			}
			text = words[1]
		}
		if _, err := netip.ParseAddr(text); err != nil {
			k.fault(at, "%q is neither an address nor a line of an exit list", clip(text))
			return
		}
		k.block(at, text)
	})
}
