# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Completion of kofi-info for bash.

_kofi_info()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words

	case $before in
	-p | --provider) words=$(kofi-info -l 2>/dev/null | sed -n 's/^\([^ ]*\):$/\1/p') ;;
	-d | --domain) words=$(kofi-info 2>/dev/null | sed -n 's/^    domain: //p' | sort -u) ;;
	-f | --fabric) words=$(kofi-info 2>/dev/null | sed -n 's/^    fabric: //p' | sort -u) ;;
	-t | --ep_type) words='FI_EP_MSG FI_EP_RDM' ;;
	-a | --addr_format) words='FI_SOCKADDR FI_SOCKADDR_IN FI_SOCKADDR_IN6 FI_SOCKADDR_IP' ;;
	-c | --caps) words='FI_MSG FI_RMA FI_TAGGED FI_ATOMIC FI_MULTI_RECV FI_SOURCE FI_RMA_PMEM FI_HMEM' ;;
	-m | --mode) words='FI_CONTEXT FI_MSG_PREFIX FI_ASYNC_IOV FI_RX_CQ_DATA FI_CONTEXT2' ;;
	-[nPsgi] | --node | --port | --src_addr | --getenv | --info) return ;;
	*) words=$(kofi-info --help | grep -o -e '--[a-z_]*') ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _kofi_info kofi-info
